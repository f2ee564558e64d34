/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { noBrowser, openBrowser, openPage } from '../support/browser.ts';
import { TestHub } from '../support/hub.ts';
import { fillHub } from '../support/hub-nodes.ts';
import { watchFrames } from './map-frames.ts';
import { median, type Result } from './result.ts';

const NODES = Number(process.env['SVC_BENCH_NODES'] ?? 100_000);
const TIMES = 40;
/** Asked before, and not counted. */
const WARM = 5;

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
      for (let n = -WARM; n < TIMES; n++) {
        const asked = performance.now();
        const answer = await fetch(`${hub.url}${path}`, {
          headers: { authorization: `Bearer ${credential ?? hub.operator}` },
        });
        bytes = (await answer.arrayBuffer()).byteLength;
        if (n >= 0) took.push(performance.now() - asked);
      }
      const p95 = took.toSorted((a, b) => a - b)[Math.floor(TIMES * 0.95)] ?? Number.NaN;
      const note = `median ${median(took).toFixed(1)}, ${(bytes / 1000).toFixed(0)} kB`;
      results.push({ name: `${name}, p95`, value: p95, unit: 'ms', goal, note });
    }
    return [...results, ...(await onPage(hub))];
  } finally {
    await hub.stop();
  }
}

/** From signing in to the first marks on the map, and how smoothly the map is moved and zoomed then. */
async function onPage(hub: TestHub): Promise<readonly Result[]> {
  if (noBrowser() !== null) return [];
  const browser = await openBrowser();
  try {
    const page = await openPage(browser);
    await page.goto(`${hub.url}/`);
    await page.locator('input[name=secret]').fill(hub.operator);
    const begun = performance.now();
    await page.locator('form button[type=submit]').click();
    await page.waitForSelector('.hub-fleet__map .marker');
    const first = (performance.now() - begun) / 1000;
    const [{ rate, longest }] = await Promise.all([watchFrames(page), moveAbout(page)]);
    const marks = await page.locator('.hub-fleet__map .marker').count();
    return [
      { name: 'page: first map within', value: first, unit: 's', goal: 2 },
      {
        name: 'page: pictures a second while the map is moved',
        value: rate,
        unit: '/s',
        goal: 55,
        higher: true,
        note: `longest ${longest.toFixed(0)} ms; ${marks} marks at the end`,
      },
    ];
  } finally {
    await browser.close();
  }
}

/** For about as long as the pictures are counted. */
async function moveAbout(page: Page): Promise<void> {
  const { x, y, width, height } = (await page.locator('.hub-fleet__map').boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  const [middle, down] = [x + width / 2, y + height / 2];
  for (let round = 0; round < 6; round++) {
    await page.mouse.move(middle, down);
    for (let step = 0; step < 8; step++) {
      await page.mouse.wheel(0, round % 2 === 0 ? -60 : 60);
      await page.waitForTimeout(60);
    }
    await page.mouse.down();
    for (let step = 0; step < 15; step++) {
      await page.mouse.move(middle - step * 12, down - step * 6);
      await page.waitForTimeout(30);
    }
    await page.mouse.up();
  }
}
