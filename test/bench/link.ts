import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { ensureSocat, SerialLine } from '../support/socat.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { commandLatency } from './command-latency.ts';
import { cpuMicros } from './proc.ts';
import type { Result } from './result.ts';

const RATES = [1000, 5000, 10_000, 20_000] as const;
const SECONDS = 4;
/** What is still on its way when the source has sent its last frame. */
const DRAIN_MS = 300;
const GOAL_RATE = 10_000;
const WS_CLIENTS = 50;
const WS_RATE = 1000;
const PARAMS = 1400;

export interface Seen {
  readonly received: number;
  /** us */
  readonly p50: number;
  readonly p99: number;
}

export const script = (name: string, ...args: string[]): ChildProcess =>
  fork(join(import.meta.dirname, name), args);

export async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = (await once(child, 'message')) as [T];
  return value;
}

/** Sends for a few seconds and asks the sink what came. */
export async function sendAndCount(sourcePort: number, rate: number, sink: ChildProcess): Promise<Seen> {
  const source = script('frame-source.ts', String(sourcePort), String(rate), String(SECONDS));
  await message(source);
  await wait(DRAIN_MS);
  const seen = message<Seen>(sink);
  sink.send('report');
  const result = await seen;
  source.disconnect();
  return result;
}

/** UDP in to UDP out at four rates, against the same frames sent to the same sink directly. */
async function udp(): Promise<readonly Result[]> {
  const [from, to] = [await freePort(), await freePort()];
  const link = await LinkProcess.start(`udp:127.0.0.1:${from}`, [`endpoints: ["udp:127.0.0.1:${to}"]`]);
  const direct = script('frame-sink.ts');
  const { port } = await message<{ port: number }>(direct);
  const station = script('frame-sink.ts', String(to));
  await message(station);
  const results: Result[] = [];
  try {
    for (const rate of [1000, ...RATES]) {
      const without = await sendAndCount(port, rate, direct);
      const cpu = cpuMicros(link.pid);
      const through = await sendAndCount(from, rate, station);
      const each = (cpuMicros(link.pid) - cpu) / (rate * SECONDS);
      if (results.length === 0) {
        results.push({ name: 'warm-up', value: 0, unit: '' });
        continue;
      }
      const lost = rate * SECONDS - through.received;
      const goal = rate === GOAL_RATE;
      const name = `UDP to UDP, ${rate} frames/s`;
      results.push(
        {
          name: `${name}: lost of ${rate * SECONDS}`,
          value: lost,
          unit: 'frames',
          ...(goal ? { goal: 0 } : {}),
        },
        {
          name: `${name}: added latency p50`,
          value: (through.p50 - without.p50) / 1000,
          unit: 'ms',
          note: `${through.p50.toFixed(0)} us against ${without.p50.toFixed(0)} us direct`,
        },
        {
          name: `${name}: added latency p99`,
          value: (through.p99 - without.p99) / 1000,
          unit: 'ms',
          ...(goal ? { goal: 1 } : {}),
          note: `${through.p99.toFixed(0)} us against ${without.p99.toFixed(0)} us direct`,
        },
        { name: `${name}: CPU of svc-link per frame, sockets included`, value: each, unit: 'us' },
      );
    }
  } finally {
    direct.disconnect();
    station.disconnect();
    await link.stop();
  }
  return results.slice(1);
}

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
  ensureSocat();
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
  return [...(await udp()), ...(await webSockets()), ...(await parameters()), ...(await commandLatency())];
}
