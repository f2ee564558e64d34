import { execFileSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE, GROUND } from '../support/radios.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const ASKED = 100; // within the burst of one peer
const LOSSES = [0, 20] as const;
const WATCH_MS = 15_000;
const IDLE_MS = 10_000;
const FILE = 'bench.mp4';
const FILE_BYTES = 10_000_000;
/** What the air has for the tunnel. */
const AIR_KBIT = 8000;

/**
 * The relay between two network namespaces: a GET through it against one sent to the drone itself, over the same cable; MAVLink
 * beside a download; what a bound drone costs. Needs root.
 */
export async function benchRelay(): Promise<readonly Result[]> {
  const why = noNamespaces();
  if (why !== null) throw new Error(`the relay is measured between network namespaces: ${why}`);
  const pair = boundPair();
  const air = await RemoteHost.create('10.5.0.1/24', '10.5.0.2/24');
  const vehicle = createSocket('udp4').bind(0, '10.5.0.1');
  await once(vehicle, 'listening');
  const drone = await TestNode.start({
    pairing: { key: KEY },
    prefix: air.prefix,
    config: 'logging:\n  level: warn\nvideo:\n  source: test\n',
    prepare: async (paths) => {
      await bindTo(DRONE, pair.atDrone)(paths);
      const config = `\nmavlink:\n  source: sim\n  endpoints: ['udpout:10.5.0.1:${vehicle.address().port}']\n`;
      const text = execFileSync('cat', [paths.config], { encoding: 'utf8' });
      await writeFile(paths.config, text.replace(/mavlink:\n {2}source: sim\n {2}endpoints: \[\]\n/, config));
    },
  });
  await mkdir(drone.paths.recordings, { recursive: true });
  await writeFile(join(drone.paths.recordings, FILE), Buffer.alloc(FILE_BYTES, 7));
  const ground = await TestNode.start({
    pairing: { key: KEY },
    simulated: false,
    config: 'agent:\n  profile: ground-station\nlogging:\n  level: warn\n',
    prepare: bindTo(GROUND, pair.atGround),
  });
  const direct = 'http://10.5.0.2:' + String(drone.port);
  const relayed = `${ground.url}/api/v1/ground-station/relay-proxy/${DRONE}`;
  const results: Result[] = [];
  try {
    while ((await timed(`${relayed}/api/status`, new Agent())) === null) await delay(100);
    for (const loss of LOSSES) {
      await air.loseAll(loss);
      const [own, through] = [await series(direct), await series(relayed)];
      await air.loseAll(0);
      results.push(
        { name: `GET /api/status direct, ${loss} % loss, p50`, value: own.p50, unit: 'ms' },
        { name: `GET /api/status relayed, ${loss} % loss, p50`, value: through.p50, unit: 'ms' },
        { name: `relayed against direct, ${loss} % loss, p50`, value: through.p50 / own.p50, unit: 'times' },
        { name: `relayed, ${loss} % loss, p95`, value: through.p95, unit: 'ms' },
        { name: `relayed without an answer, ${loss} % loss`, value: through.failed, unit: '%' },
      );
    }
    const quiet = await gaps(vehicle, async () => delay(WATCH_MS));
    await air.thinFar(AIR_KBIT);
    let seconds = 0;
    const busy = await gaps(vehicle, async () => {
      const at = performance.now();
      const answer = await fetch(`${relayed}/api/video/recordings/${FILE}`, {
        headers: { 'x-svc-key': KEY },
      });
      const bytes = (await answer.arrayBuffer()).byteLength;
      if (bytes !== FILE_BYTES) throw new Error(`${bytes} bytes came (${answer.status})`);
      seconds = (performance.now() - at) / 1000;
    });
    results.push(
      { name: 'longest wait for MAVLink, p99, alone', value: quiet, unit: 'ms' },
      {
        name: 'longest wait for MAVLink, p99, beside a download of 10 MB',
        value: busy,
        unit: 'ms',
        note: `in one queue of ${AIR_KBIT / 1000} Mbit/s, ${seconds.toFixed(0)} s; the radio has queues of their own`,
      },
    );
    const pid = ground.pid('svc-control');
    const before = cpuMicros(pid);
    await delay(IDLE_MS);
    results.push(
      {
        name: 'svc-control of a ground station, one bound drone',
        value: (cpuMicros(pid) - before) / IDLE_MS / 10,
        unit: '% CPU',
      },
      { name: 'svc-control of a ground station, one bound drone', value: pssMib(pid), unit: 'MiB PSS' },
    );
    return results;
  } finally {
    vehicle.close();
    await Promise.all([drone.stop(), ground.stop()]);
    await air.destroy();
  }
}

async function series(base: string): Promise<{ p50: number; p95: number; failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let n = 0; n < ASKED; n++) {
    const ms = await timed(`${base}/api/status`, agent);
    if (ms !== null) times.push(ms);
  }
  agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    p50: median(times),
    p95: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
    failed: (100 * (ASKED - times.length)) / ASKED,
  };
}

/** @returns ms, null for another answer than 200 */
async function timed(url: string, agent: Agent): Promise<number | null> {
  const at = performance.now();
  const status = await new Promise<number>((resolve) => {
    get(url, { agent, headers: { 'x-svc-key': KEY }, timeout: 10_000 }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0));
    })
      .on('timeout', () => resolve(0))
      .on('error', () => resolve(0));
  });
  return status === 200 ? performance.now() - at : null;
}

/** The 99th percentile of the waits between two datagrams, ms. */
async function gaps(socket: Socket, work: () => Promise<void>): Promise<number> {
  const waits: number[] = [];
  let last = performance.now();
  const heard = (): void => {
    const now = performance.now();
    waits.push(now - last);
    last = now;
  };
  socket.on('message', heard);
  await work();
  socket.off('message', heard);
  const sorted = waits.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
