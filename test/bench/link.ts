import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { SerialLine } from '../support/socat.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { commandLatency } from './command-latency.ts';
import { correctionsLatency } from './corrections.ts';
import { cpuMicros } from './proc.ts';
import type { Result } from './result.ts';
import { benchRouting, message, script } from './routing.ts';
import { tlogCost } from './tlogs.ts';

const SECONDS = 4;
/** What is still on its way when the source has sent its last frame. */
const DRAIN_MS = 300;
const WS_CLIENTS = 50;
const WS_RATE = 1000;
const PARAMS = 1400;

/** The same frames to fifty WebSocket clients. */
async function webSockets(): Promise<readonly Result[]> {
  const from = await freePort();
  const node = await TestNode.start({
    simulated: false,
    pairing: { key: KEY },
    config: `mavlink:\n  source: udp:127.0.0.1:${from}\n  endpoints: []\n`,
  });
  const counts = Array.from({ length: WS_CLIENTS }, () => 0);
  const clients = counts.map((_, index) => {
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/mavlink/ws?msgs=HIL_SENSOR`, {
      headers: { 'x-svc-key': KEY },
    });
    socket.on('message', () => {
      counts[index] = (counts[index] ?? 0) + 1;
    });
    return socket;
  });
  try {
    await Promise.all(clients.map(async (socket) => once(socket, 'open')));
    const before = { link: cpuMicros(node.pid('svc-link')), front: cpuMicros(node.pid('svc-control')) };
    const source = script('frame-source.ts', String(from), String(WS_RATE), String(SECONDS));
    await message(source);
    await wait(DRAIN_MS);
    source.disconnect();
    const frames = WS_RATE * SECONDS;
    const got = counts.reduce((sum, count) => sum + count, 0);
    const each = (name: 'svc-link' | 'svc-control', since: number): number =>
      (cpuMicros(node.pid(name)) - since) / (frames * WS_CLIENTS);
    const name = `${WS_CLIENTS} WebSockets, ${WS_RATE} frames/s`;
    return [
      { name: `${name}: lost`, value: (1 - got / (frames * WS_CLIENTS)) * 100, unit: '%' },
      {
        name: `${name}: CPU of svc-link per frame and client`,
        value: each('svc-link', before.link),
        unit: 'us',
      },
      {
        name: `${name}: CPU of svc-control per frame and client`,
        value: each('svc-control', before.front),
        unit: 'us',
      },
    ];
  } finally {
    for (const socket of clients) socket.terminate();
    await node.stop();
  }
}

async function download(source: string, name: string): Promise<Result> {
  const started = performance.now();
  const link = await LinkProcess.start(source);
  const state = await link.until(({ params: { cached, priming } }) => cached >= PARAMS && !priming);
  const seconds = (performance.now() - started) / 1000;
  await link.stop();
  return {
    name,
    value: seconds,
    unit: 's',
    note: `${state.params.cached} parameters, process start included`,
  };
}

/** A pty carries any rate, so the simulator's list is held to what 921600 baud carry: 37 bytes a parameter. */
async function parameters(): Promise<readonly Result[]> {
  const dir = await tempDir();
  const results: Result[] = [];
  const common = ['--param-count', String(PARAMS), '--param-rate', '2400'];
  for (const [name, args] of [
    ['list', ['--no-ftp']],
    ['file (MAVLink FTP)', []],
  ] as const) {
    await using sim = await SimProcess.start(...common, ...args);
    const line = await SerialLine.plug(join(dir, 'fc'), `TCP:127.0.0.1:${sim.port}`);
    results.push(
      await download(`serial:${await realpath(line.path)}:921600`, `${PARAMS} parameters, pty, ${name}`),
    );
    await line.unplug();
    await using lossy = await SimProcess.start(...common, ...args, '--drop-frames', '0.2', '--seed', '7');
    results.push(await download(`tcp:127.0.0.1:${lossy.port}`, `${PARAMS} parameters, 20 % loss, ${name}`));
  }
  await removeDir(dir);
  return results;
}

export async function benchLink(): Promise<readonly Result[]> {
  return [
    ...(await benchRouting()),
    ...(await webSockets()),
    ...(await parameters()),
    ...(await commandLatency()),
    ...(await correctionsLatency()),
    ...(await tlogCost()),
  ];
}
