import { globSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { VERSION } from '../../shared/version.ts';
import { KEY } from '../support/edge.ts';
import { type Signer, signer, trust } from '../support/extensions.ts';
import { commitOf, machineFacts } from '../support/machine-facts.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { type NodeOptions, ROOT, TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';
import { type Fault, type Faults, faultsOf } from './faults.ts';
import { Growth } from './growth.ts';
import { ConfigWrites, Flights, type Keeping, Recordings, Tokens } from './keeping.ts';
import { startComings, startLoad } from './load.ts';
import type { FaultSummary, SoakReport } from './report.ts';
import { Rig } from './rig.ts';
import { SignIns } from './sign-ins.ts';
import { secondVehicle, Vehicle } from './vehicles.ts';

export interface SoakOptions {
  readonly seconds: number;
  /** Nothing is killed, under a heavier load: for the growth of each process. */
  readonly steady: boolean;
  readonly seed: number;
  /** An empty folder for all files of the run. */
  readonly folder: string;
  /** Whether that folder is a small disk of its own, which may be filled. */
  readonly ownDisk: boolean;
  /** libfaketime; null: clocks are not stepped. */
  readonly faketime: string | null;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** In this part of each block processes are killed; in the rest growth is measured. */
const KILLING_SHARE = 0.4;
const BLOCK_S = 3600;
/** Shorter runs kill all the time, and with shorter pauses. */
const SHORT_S = 600;
const MAX_HISTORY = 2000;
/** A node that is not whole after this is not going to be. */
const LOST_MS = 180_000;

interface Made {
  readonly at_s: number;
  readonly fault: string;
  readonly whole_ms: number | null;
}

/** Runs a node under load and faults, and judges it. @throws Error only for what is no finding, such as a node that cannot start */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const startedAt = new Date();
  const ended = new AbortController();
  const by = signer('soak');
  const node = await nodeOptions(options, by);
  const noRemote = noNamespaces();
  const octet = 1 + (process.pid % 250);
  const remote =
    noRemote === null ? await RemoteHost.create(`10.87.${octet}.1/24`, `10.87.${octet}.2/24`) : null;
  let rig: Rig | null = null;
  const vehicle = new Vehicle(sourcePort(node));
  try {
    const first = await TestNode.start(node);
    rig = new Rig(first, {
      seed: options.seed,
      node,
      vehicle,
      signal: ended.signal,
      pace: options.seconds < SHORT_S ? 0.25 : 1,
    });
    return await run(rig, by, remote, noRemote, startedAt, ended, options);
  } finally {
    ended.abort();
    if (rig !== null && rig.node.supervisor.exitCode === null) await rig.node.stop();
    await vehicle.stop();
    await remote?.destroy();
  }
}

/** Where the node hears vehicles, after the port of the endpoint for ground stations. */
function sourcePort({ port = 0 }: NodeOptions): number {
  return port + 2;
}

async function nodeOptions({ folder, faketime }: SoakOptions, by: Signer): Promise<NodeOptions> {
  process.env['TMPDIR'] = folder; // the node's files are on that disk
  const port = await freePort();
  const clock = join(folder, 'clock');
  return {
    port,
    pairing: { key: KEY },
    simulated: false,
    prepare: async (paths) => trust(paths, by),
    args: [],
    // Ends with this program, however that ends.
    prefix: ['setpriv', '--pdeathsig', 'TERM'],
    env: {
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile'),
      ...(faketime === null
        ? {}
        : {
            LD_PRELOAD: faketime,
            FAKETIME_TIMESTAMP_FILE: clock,
            FAKETIME_CACHE_DURATION: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
            NO_FAKE_STAT: '1',
          }),
    },
    config: `mavlink:
  source: 'udp:127.0.0.1:${port + 2}'
  endpoints: ['tcp:127.0.0.1:${port + 1}']
video:
  source: test
  radio: ''
  hero: { width: 640, height: 360, fps: 15, bitrate_kbps: 800 }
logging:
  level: warn
  store: { max_mb: 64 }
mcp:
  token_accept_enabled: true
`,
  };
}

async function run(
  rig: Rig,
  by: Signer,
  remote: RemoteHost | null,
  noRemote: string | null,
  startedAt: Date,
  ended: AbortController,
  options: SoakOptions,
): Promise<SoakReport> {
  const { seconds, folder, say } = options;
  await rig.whole();
  const play = join(folder, 'play');
  await mkdir(play);
  const config = new ConfigWrites(rig);
  const flights = new Flights(rig);
  const keepings: readonly Keeping[] = [
    config,
    new Tokens(rig),
    new Recordings(rig, play),
    new SignIns(rig),
    flights,
  ];
  const growth = new Growth(rig, options.steady);
  const faults = faultsOf(rig, {
    remote,
    noRemote,
    clockFile: options.faketime === null ? null : join(folder, 'clock'),
    disk: options.ownDisk ? folder : null,
  });
  say(`${faults.faults.length} kinds of faults, ${faults.skipped.length} skipped`);
  let cut: string | null = null;
  const end = (why: string | null): void => {
    cut ??= why;
    ended.abort();
  };
  // In real time: a pause that a person made counts too.
  const timer = setTimeout(() => end(null), seconds * 1000);
  const interrupted = (): void => end('interrupted');
  options.signal.addEventListener('abort', interrupted, { once: true });
  const short = seconds < SHORT_S;
  const work = [
    ...startLoad(rig, remote),
    secondVehicle(rig, sourcePort(rig.options.node)),
    ...(options.steady ? startComings(rig, by) : []),
    ...keepings.map(async (keeping) => keeping.run()),
    growth.run(short ? 1000 : 5000),
  ].map(async (going) => going.catch((error: unknown) => end(`the soak itself failed: ${messageOf(error)}`)));
  const history: Made[] = [];
  try {
    await makeFaults(rig, faults, keepings, growth, { ...options, short, history });
  } catch (error) {
    if (!ended.signal.aborted || error instanceof NotWhole) end(messageOf(error));
  }
  clearTimeout(timer);
  await Promise.all(work);
  const duration = rig.elapsed;
  if (!(cut ?? '').startsWith('not whole')) {
    // The end may have come in the middle of a fault.
    await rig
      .whole(0, AbortSignal.timeout(LOST_MS))
      .catch((error: unknown) => rig.invariants.whole.broke(`at the end: ${messageOf(error)}`));
    rig.settle();
    for (const keeping of keepings) await keeping.check();
  }
  await finish(rig, config);
  const slopes = growth.judge();
  const invariants = Object.values(rig.invariants).map(({ verdict }) => verdict);
  return {
    started_at: startedAt.toISOString(),
    ended_at: new Date().toISOString(),
    duration_s: Math.round(duration),
    asked_s: seconds,
    cut_short: cut,
    seed: options.seed,
    version: VERSION,
    commit: commitOf(),
    machine: machineFacts(),
    ok: invariants.every(({ outcome }) => outcome !== 'broken') && cut === null,
    invariants,
    faults: summaries(faults, history),
    skipped: faults.skipped,
    latency: rig.latencies(),
    slopes,
    load: rig.counts,
    history: history.slice(-MAX_HISTORY),
  };
}

class NotWhole extends Error {}

/** Stops the node, and looks at what it leaves. */
async function finish(rig: Rig, config: ConfigWrites): Promise<void> {
  const { leftovers } = rig.invariants;
  const { node } = rig;
  try {
    const code = await node.stop({ keep: true });
    leftovers.check(code === 0, () => `the supervisor ended with ${code}`);
  } catch (error) {
    leftovers.broke(messageOf(error)); // a secret in the log
  }
  await config.checkFiles();
  const alive = Growth.alive(node.paths.run);
  leftovers.check(alive.length === 0, () => `still running: ${alive.join(', ')}`);
  const files = [...globSync('**/.*.tmp', { cwd: node.base }), ...globSync('run/*', { cwd: node.base })];
  leftovers.check(files.length === 0, () => `left: ${files.join(', ')}`);
  await node.remove();
}

async function makeFaults(
  rig: Rig,
  { faults }: Faults,
  keepings: readonly Keeping[],
  growth: Growth,
  { seconds, steady, short, history, say }: SoakOptions & { short: boolean; history: Made[] },
): Promise<void> {
  let deck: Fault[] = [];
  while (!rig.signal.aborted) {
    const killing = !steady && (short || rig.elapsed % BLOCK_S < Math.min(seconds, BLOCK_S) * KILLING_SHARE);
    if (killing) growth.measuredFrom = null;
    else growth.measuredFrom ??= rig.elapsed;
    const usable = faults.filter(({ restarts, long }) => (killing || !restarts) && !(short && long));
    deck = deck.filter((fault) => usable.includes(fault));
    if (deck.length === 0) deck = shuffled(usable, rig.random);
    const fault = deck.pop();
    if (fault === undefined) return;
    // Enough quiet to see that all is answered, and that processes are not parked for failing too often.
    await rig.pause((short ? 500 : 5000) + rig.random() * (short ? 500 : 10_000));
    if (rig.signal.aborted) return;
    if (fault.grounded) await rig.flights.run(async () => make(rig, fault, history, say));
    else await make(rig, fault, history, say);
    if (rig.signal.aborted) return;
    // Flights are looked at only in between: that waits for the end of one.
    for (const keeping of keepings) if (!(keeping instanceof Flights)) await keeping.check();
  }
}

async function make(rig: Rig, fault: Fault, history: Made[], say: (line: string) => void): Promise<void> {
  const at = Math.round(rig.elapsed);
  rig.disturb(fault.disturbs);
  let wholeMs: number | null = null;
  try {
    const since = await fault.make();
    // Heard from now on: what is told in the moment of a kill may be of the vehicle that was killed.
    const again = rig.whole(performance.now()).then(() => performance.now() - since);
    const whole = await Promise.race([again, rig.pause(LOST_MS).then(() => null)]);
    if (whole === null && !rig.signal.aborted) {
      const states = rig.node.services.map(({ name, state }) => `${name} ${state}`).join(', ');
      rig.invariants.whole.broke(`not whole ${LOST_MS / 1000} s after ${fault.name}: ${states}`);
      throw new NotWhole(`not whole after ${fault.name}: ${states}`);
    }
    if (whole !== null) {
      wholeMs = Math.round(whole);
      rig.invariants.whole.check(whole <= fault.boundMs, () => `${Math.round(whole)} ms after ${fault.name}`);
      rig.invariants.whole.worst('longest ms', whole);
    }
  } finally {
    history.push({ at_s: at, fault: fault.name, whole_ms: wholeMs });
    say(`${at} s: ${fault.name}${wholeMs === null ? '' : `, whole after ${wholeMs} ms`}`);
  }
  if (wholeMs !== null) rig.settle(); // else the run has ended meanwhile
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function summaries({ faults }: Faults, history: readonly Made[]): readonly FaultSummary[] {
  return faults.map(({ name, boundMs }) => {
    const made = history.filter(({ fault }) => fault === name);
    const times = made.flatMap(({ whole_ms: ms }) => (ms === null ? [] : [ms])).toSorted((a, b) => a - b);
    return {
      name,
      count: made.length,
      whole_ms: { median: times[Math.floor(times.length / 2)] ?? null, max: times.at(-1) ?? null },
      bound_ms: boundMs,
    };
  });
}
