import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { LinkProcess } from '../link/link-process.ts';
import { askAgain } from '../support/ask-again.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';

/** Frames a second from a vehicle on UDP. */
const RATES = [500, 2000, 10_000, 20_000] as const;
const GOAL_RATE = 2000;
const FULL_RATE = 10_000;
const WARM_UP_RATE = 1000;
const ROUNDS = 3;
const SECONDS = 3;
/** What is still on its way when the source has sent its last frame. */
const DRAIN_MS = 300;

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

/** By where it sends: a vehicle keeps its port, for a router takes another peer only when the first one is silent. */
const ownPorts = new Map<number, number>();

/** Sends for a few seconds and asks the sink what came. */
export async function sendAndCount(sourcePort: number, rate: number, sink: ChildProcess): Promise<Seen> {
  const own = ownPorts.get(sourcePort) ?? (await freePort());
  ownPorts.set(sourcePort, own);
  const source = script('frame-source.ts', ...[sourcePort, rate, SECONDS, own].map(String));
  await message(source);
  await wait(DRAIN_MS);
  const seen = message<Seen>(sink);
  sink.send('report');
  const result = await seen;
  source.disconnect();
  return result;
}

/** A program that routes: a vehicle sends to `from` by UDP, ground stations are at `udp` and `tcp`. */
interface Routing {
  readonly name: string;
  readonly pid: number;
  readonly from: number;
  readonly udp: number;
  readonly tcp: number;
  stop(): Promise<void>;
}

async function svcLink(): Promise<Routing> {
  const [from, udp, tcp] = [await freePort(), await freePort(), await freePort()];
  const endpoints = `endpoints: ["udp:127.0.0.1:${udp}", "tcp:127.0.0.1:${tcp}"]`;
  const link = await LinkProcess.start(`udp:127.0.0.1:${from}`, [endpoints]);
  return { name: 'svc-link', pid: link.pid, from, udp, tcp, stop: async () => void (await link.stop()) };
}

/** The program that others use for this, if it is on the PATH: https://github.com/mavlink-router/mavlink-router */
async function mavlinkRouter(): Promise<Routing | null> {
  if (spawnSync('mavlink-routerd', ['--version']).status !== 0) return null;
  const [from, udp, tcp] = [await freePort(), await freePort(), await freePort()];
  const folder = await tempDir();
  const server = (name: string, port: number): string =>
    `[UdpEndpoint ${name}]\nMode = Server\nAddress = 127.0.0.1\nPort = ${port}\n`;
  const config = join(folder, 'router.conf');
  await writeFile(
    config,
    `[General]\nTcpServerPort = ${tcp}\n${server('vehicle', from)}${server('ground', udp)}`,
  );
  const child = spawn('mavlink-routerd', ['-c', config], { stdio: 'ignore' });
  return {
    name: 'mavlink-router',
    pid: child.pid ?? 0,
    from,
    udp,
    tcp,
    stop: async () => {
      child.kill();
      await once(child, 'exit');
      await removeDir(folder);
    },
  };
}

type Way = 'UDP' | 'TCP';

/** What a router did with the frames of one run. */
interface Run extends Seen {
  /** Of the whole process, sockets included, us a frame. */
  readonly cpu: number;
  readonly lost: number;
}

async function run({ pid, from }: Routing, rate: number, station: ChildProcess): Promise<Run> {
  const before = cpuMicros(pid);
  const seen = await sendAndCount(from, rate, station);
  const sent = rate * SECONDS;
  return { ...seen, cpu: (cpuMicros(pid) - before) / sent, lost: sent - seen.received };
}

/** svc-link and, where it is there, mavlink-router in turns: medians of three rounds, and what of the one is so much of the other. */
export async function benchRouting(): Promise<readonly Result[]> {
  const peer = await mavlinkRouter();
  const routings = [await svcLink(), ...(peer === null ? [] : [peer])];
  const stations = new Map<Routing, Readonly<Record<Way, ChildProcess>>>();
  for (const routing of routings) {
    const stationAt = async (port: number, ...way: string[]): Promise<ChildProcess> =>
      askAgain(
        `a station at ${routing.name}`,
        async () => {
          const sink = script('frame-sink.ts', String(port), ...way);
          await Promise.race([message(sink), once(sink, 'exit')]);
          return sink;
        },
        ({ exitCode }) => exitCode === null,
      );
    stations.set(routing, { UDP: await stationAt(routing.udp), TCP: await stationAt(routing.tcp, 'tcp') });
  }
  const results: Result[] = [];
  try {
    const measure = async (rate: number, way: Way): Promise<Map<Routing, readonly Run[]>> => {
      const runs = new Map<Routing, Run[]>(routings.map((routing) => [routing, []]));
      for (let round = 0; round < ROUNDS; round++)
        for (const [routing, { [way]: station }] of stations)
          runs.get(routing)?.push(await run(routing, rate, station));
      return runs;
    };
    await measure(WARM_UP_RATE, 'UDP');
    for (const rate of RATES) results.push(...compared('UDP', rate, await measure(rate, 'UDP')));
    results.push(...compared('TCP', GOAL_RATE, await measure(GOAL_RATE, 'TCP')));
  } finally {
    for (const each of stations.values()) for (const sink of Object.values(each)) sink.disconnect();
    for (const routing of routings) await routing.stop();
  }
  return results;
}

interface Figure {
  readonly name: string;
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly lost: number;
}

function compared(way: Way, rate: number, runs: ReadonlyMap<Routing, readonly Run[]>): readonly Result[] {
  const name = `${way}, ${rate} frames/s`;
  const figures = [...runs].map(([routing, each]): Figure => {
    const of = (pick: (run: Run) => number): number => median(each.map(pick));
    return {
      name: routing.name,
      cpu: of(({ cpu }) => cpu),
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      lost: of(({ lost }) => lost),
    };
  });
  const [own, peer] = figures;
  if (own === undefined) return [];
  const note = (text: (figure: Figure) => string): string =>
    figures.map((figure) => `${figure.name} ${text(figure)}`).join(', ');
  const at = (wanted: number, goal: number): { readonly goal?: number } => (rate === wanted ? { goal } : {});
  return [
    {
      name: `${name}: lost of ${rate * SECONDS}`,
      value: own.lost,
      unit: 'frames',
      ...at(FULL_RATE, peer?.lost ?? 0),
      note: note(({ lost }) => String(lost)),
    },
    {
      name: `${name}: p50`,
      value: own.p50,
      unit: 'us',
      ...(way === 'TCP' ? { goal: 1000 } : {}),
      note: note(({ p50 }) => p50.toFixed(0)),
    },
    { name: `${name}: p99`, value: own.p99, unit: 'us', note: note(({ p99 }) => p99.toFixed(0)) },
    { name: `${name}: CPU a frame`, value: own.cpu, unit: 'us', note: note(({ cpu }) => cpu.toFixed(1)) },
    ...(peer === undefined
      ? []
      : [
          {
            name: `${name}: p50, times the peer's`,
            value: own.p50 / peer.p50,
            unit: '',
            ...at(GOAL_RATE, 2),
          },
          {
            name: `${name}: CPU, times the peer's`,
            value: own.cpu / peer.cpu,
            unit: '',
            ...at(GOAL_RATE, 1.5),
          },
        ]),
  ];
}
