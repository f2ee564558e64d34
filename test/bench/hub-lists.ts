import { TestHub } from '../support/hub.ts';
import { fillHub } from '../support/hub-nodes.ts';
import { median, type Result } from './result.ts';

const NODES = Number(process.env['SVC_BENCH_NODES'] ?? 100_000);
const TIMES = 40;

/** What lists and maps of a large fleet cost, asked over HTTP one after the other: 100 000 nodes spread over Europe, a tenth with a tag. */
export async function benchHubLists(): Promise<readonly Result[]> {
  const hub = await TestHub.init();
  try {
    fillHub(hub.folder, NODES, (n) => ({
      name: `Kite ${(n * 7919) % NODES}`,
      lat: 40 + ((n * 37) % 15_000) / 1000,
      lon: -5 + ((n * 91) % 30_000) / 1000,
      tags: n % 10 === 0 ? ['north'] : [],
    }));
    const begun = performance.now();
    await hub.serve();
    const started = (performance.now() - begun) / 1000;
    const { body } = await hub.call('POST', '/v1/operators', {
      body: { name: 'north', scopes: ['read'], tags: ['north'] },
    });
    const north = String(body['credential']);
    const results: Result[] = [{ name: `${NODES} nodes: a hub starts within`, value: started, unit: 's' }];
    for (const [name, path, goal, credential] of [
      ['page of 100, by id', '/v1/nodes?limit=100', 50],
      ['page of 100, attention first', '/v1/nodes?limit=100&order=attention', 50],
      ['page of 100, lowest battery first', '/v1/nodes?limit=100&order=battery', 50],
      ['page of 100, by a part of the name', '/v1/nodes?limit=100&order=name&q=kite%2099', 50],
      ['page of 100, of who has a tag', '/v1/nodes?limit=100', 50, north],
      ['page of 1 000, by name', '/v1/nodes?limit=1000&order=name', 50],
      ['figures', '/v1/fleet', 30],
      ['clusters of the whole map', '/v1/nodes/clusters?zoom=3', 30],
      ['clusters of a country', '/v1/nodes/clusters?zoom=6&bbox=5,44,15,52', 30],
      ['clusters, of who has a tag', '/v1/nodes/clusters?zoom=3', 30, north],
    ] as const) {
      const took: number[] = [];
      let bytes = 0;
      for (let n = 0; n < TIMES; n++) {
        const asked = performance.now();
        const answer = await fetch(`${hub.url}${path}`, {
          headers: { authorization: `Bearer ${credential ?? hub.operator}` },
        });
        bytes = (await answer.arrayBuffer()).byteLength;
        took.push(performance.now() - asked);
      }
      const p95 = took.toSorted((a, b) => a - b)[Math.floor(TIMES * 0.95)] ?? Number.NaN;
      const note = `median ${median(took).toFixed(1)}, ${(bytes / 1000).toFixed(0)} kB`;
      results.push({ name: `${name}, p95`, value: p95, unit: 'ms', goal, note });
    }
    return results;
  } finally {
    await hub.stop();
  }
}
