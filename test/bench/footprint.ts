import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { cpuMicros, nameOf, pssMib, wakeUps, writtenBytes } from './proc.ts';
import { median, type Result } from './result.ts';
import { coldStart } from './startup.ts';

/** Parameters down, heaps collected, a vehicle in the air. */
const SETTLE_MS = 15_000;
const WINDOW_MS = 60_000;
const TRACE_MS = 20_000;
const ROUNDS = 3;
const POLL_MS = 50;
const READY_MS = 60_000;
/** It stands for the vehicle, and no board runs it. */
const NOT_COUNTED = 'svc-sim';

interface Case {
  readonly config: string;
  /** Most that all processes take, MiB. */
  readonly pss?: number;
  /** Most that is written, MB an hour. */
  readonly written?: number;
  /** Begins what goes on meanwhile; resolves with what ends it. */
  readonly meanwhile?: (port: number) => Promise<() => void>;
}

const SIM = 'mavlink:\n  source: sim\n';
const TEST_CAMERA = 'video:\n  source: test\n';
const CASES: Readonly<Record<string, Case>> = {
  idle: { config: SIM, pss: 180, written: 8 },
  camera: { config: `${SIM}${TEST_CAMERA}`, pss: 210 },
  viewer: { config: `${SIM}${TEST_CAMERA}`, pss: 260, meanwhile: watch },
  ground: { config: 'agent:\n  profile: ground-station\nmavlink:\n  source: auto\n' },
  // Last: a node that was armed holds its profile and source over a restart.
  flight: { config: SIM, written: 30, meanwhile: fly },
};

interface Figures {
  readonly name: string;
  readonly pss_mib: number;
  readonly cpu_percent: number;
  readonly written_mb_hour: number;
  readonly wake_ups_second: number;
  /** Null where there is no strace. */
  readonly syncs_hour: number | null;
}

/** What a node costs the board: memory, CPU, writes to the card, wake-ups, and how long it takes to come up. */
export async function benchFootprint(): Promise<readonly Result[]> {
  const base = await tempDir();
  const port = await freePort();
  await mkdir(join(base, 'etc'));
  const configure = async ({ config }: Case): Promise<void> =>
    writeFile(join(base, 'etc/config.yaml'), `api:\n  port: ${port}\n${config}`);
  const only = process.env['FOOTPRINT_CASES']?.split(',') ?? [...Object.keys(CASES), 'start'];
  const out: Result[] = [];
  try {
    await configure({ config: `${SIM}${TEST_CAMERA}` });
    await coldStart(base, port, async () => untilPicture(port)); // fills the compile cache
    for (const [name, one] of Object.entries(CASES)) {
      if (!only.includes(name)) continue;
      await configure(one);
      await coldStart(base, port, async () => undefined); // checks the new config, which loads what a later start does without
      await coldStart(base, port, async (pids) => {
        const end = await one.meanwhile?.(port);
        await wait(SETTLE_MS);
        out.push(...rowsOf(name, one, await measure(pids())));
        end?.();
      });
    }
    if (only.includes('start')) out.push(...(await starts(base, port, configure)));
    return out;
  } finally {
    await removeDir(base);
  }
}

async function starts(
  base: string,
  port: number,
  configure: (one: Case) => Promise<void>,
): Promise<readonly Result[]> {
  await configure({ config: `${SIM}${TEST_CAMERA}` });
  const [healthy, picture]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    let after = 0;
    const ms = await coldStart(base, port, async () => {
      const began = performance.now();
      await untilPicture(port);
      after = performance.now() - began;
    });
    healthy.push(ms);
    picture.push(ms + after);
  }
  return [
    { name: 'cold start to /healthz', value: median(healthy), unit: 'ms', goal: 700 },
    { name: 'cold start to a first picture', value: median(picture), unit: 'ms' },
  ];
}

async function measure(pids: readonly number[]): Promise<readonly Figures[]> {
  const read = (): readonly { cpu: number; written: number; woken: number }[] =>
    pids.map((pid) => ({ cpu: cpuMicros(pid), written: writtenBytes(pid), woken: wakeUps(pid) }));
  const before = read();
  const began = performance.now();
  await wait(WINDOW_MS);
  const after = read();
  const seconds = (performance.now() - began) / 1000;
  const pss = pids.map(pssMib);
  const syncs = await syncsOf(pids);
  return pids.map((pid, index) => {
    const of = (key: 'cpu' | 'written' | 'woken'): number =>
      ((after[index]?.[key] ?? 0) - (before[index]?.[key] ?? 0)) / seconds;
    return {
      name: nameOf(pid),
      pss_mib: pss[index] ?? 0,
      cpu_percent: of('cpu') / 1e4,
      written_mb_hour: (of('written') * 3600) / 1e6,
      wake_ups_second: of('woken'),
      syncs_hour: syncs === null ? null : ((syncs.get(pid) ?? 0) * 3.6e6) / TRACE_MS,
    };
  });
}

/** How often each process waited for the disk, by strace, after the other figures: it slows what it follows. */
async function syncsOf(pids: readonly number[]): Promise<ReadonlyMap<number, number> | null> {
  const counts = await Promise.all(pids.map(async (pid) => [pid, await countSyncs(pid)] as const));
  return counts.some(([, count]) => count === null)
    ? null
    : new Map(counts.map(([pid, count]) => [pid, count ?? 0]));
}

async function countSyncs(pid: number): Promise<number | null> {
  const strace = spawn('strace', ['-f', '-qq', '-e', 'trace=fsync,fdatasync', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  strace.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  try {
    await once(strace, 'spawn');
  } catch {
    return null; // not here
  }
  const gone = once(strace, 'close');
  await Promise.race([wait(TRACE_MS), gone]);
  const refused = strace.exitCode !== null;
  strace.kill('SIGINT');
  await gone;
  return refused ? null : (text.match(/fsync\(|fdatasync\(/g)?.length ?? 0);
}

function rowsOf(name: string, { pss, written }: Case, processes: readonly Figures[]): readonly Result[] {
  const counted = processes.filter((one) => one.name !== NOT_COUNTED);
  const sum = (of: (one: Figures) => number): number => counted.reduce((all, one) => all + of(one), 0);
  const syncs = counted.some(({ syncs_hour: each }) => each === null)
    ? Number.NaN
    : sum((one) => one.syncs_hour ?? 0);
  const total = (what: string, value: number, unit: string, goal?: number): Result => ({
    name: `${name}, all: ${what}`,
    value,
    unit,
    ...(goal === undefined ? {} : { goal }),
  });
  return [
    ...processes.map((one) => ({
      name: `${name}, ${one.name}: PSS`,
      value: one.pss_mib,
      unit: 'MiB',
      note: `${one.cpu_percent.toFixed(1)} % CPU, ${one.written_mb_hour.toFixed(1)} MB/h, ${one.wake_ups_second.toFixed(0)} wake-ups/s, ${one.syncs_hour ?? '?'} syncs/h`,
      figures: one,
    })),
    total(
      'PSS',
      sum(({ pss_mib: each }) => each),
      'MiB',
      pss,
    ),
    total(
      'CPU',
      sum(({ cpu_percent: each }) => each),
      '% core',
    ),
    total(
      'written',
      sum(({ written_mb_hour: each }) => each),
      'MB/h',
      written,
    ),
    total(
      'wake-ups',
      sum(({ wake_ups_second: each }) => each),
      '/s',
    ),
    {
      ...total('syncs', syncs, '/h'),
      ...(Number.isNaN(syncs) ? { note: 'not known: strace is not here, or may not look' } : {}),
    },
  ];
}

/** The camera's picture as JPEG. */
async function untilPicture(port: number): Promise<void> {
  await untilOk(async () => fetch(`http://127.0.0.1:${port}/api/video/snapshot`), 'a picture');
}

async function watch(port: number): Promise<() => void> {
  await untilPicture(port);
  const hangUp = new AbortController();
  const film = await fetch(`http://127.0.0.1:${port}/api/video/live.mp4`, { signal: hangUp.signal });
  if (film.body === null || !film.ok) throw new Error(`no film: ${film.status}`);
  film.body.pipeTo(new WritableStream(), { signal: hangUp.signal }).catch(() => undefined); // hung up
  return () => hangUp.abort();
}

async function fly(port: number): Promise<() => void> {
  for (const command of [{ cmd: 'mode', args: ['GUIDED'] }, { cmd: 'arm' }, { cmd: 'takeoff', args: [10] }])
    await untilOk(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/command`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(command),
      });
      const { status } = (await answer.json()) as { status?: unknown };
      return { ok: status === 'accepted' };
    }, command.cmd);
  const client = new WebSocket(`ws://127.0.0.1:${port}/api/telemetry/ws`);
  await once(client, 'open');
  return () => client.terminate();
}

async function untilOk(ask: () => Promise<{ readonly ok: boolean }>, what: string): Promise<void> {
  const late = performance.now() + READY_MS;
  for (;;) {
    const { ok } = await ask();
    if (ok) return;
    if (performance.now() > late) throw new Error(`${what}: not within ${READY_MS / 1000} s`);
    await wait(POLL_MS);
  }
}
