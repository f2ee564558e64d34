import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { Replicas } from '../support/replicas.ts';
import type { FromCrowd, ToCrowd } from './fleet-crowd.ts';
import { cpuMicros, cpuOfTree, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const NODES = Number(process.env['SVC_BENCH_NODES'] ?? 3000);
const SECONDS = Number(process.env['SVC_BENCH_SECONDS'] ?? 30);
const CROWDS = 2;
const EVENTS_PER_SECOND = 200;
const LONGEST_MS = 300_000;

/** A part of the nodes, in a process of its own. */
class Crowd {
  connected = 0;
  acknowledgedMs: number[] = [];
  readonly process: ChildProcess = fork(join(import.meta.dirname, 'fleet-crowd.ts'));

  constructor() {
    this.process.on('message', ({ connected, acknowledgedMs }: FromCrowd) => {
      this.connected = connected;
      this.acknowledgedMs.push(...acknowledgedMs);
    });
  }

  tell(message: ToCrowd): void {
    this.process.send(message);
  }
}

/**
 * Nodes at 1 Hz that nobody looks at, and one, two and three replicas of a hub with a PostgreSQL and a Mosquitto: what each needs, how
 * soon an event is acknowledged, and how they come back after the broker's death.
 */
export async function benchReplicas(): Promise<readonly Result[]> {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${NODES + 3000}:`]);
  const replicas = await Replicas.start([], 1);
  const crowds = Array.from({ length: CROWDS }, () => new Crowd());
  const results: Result[] = [];
  try {
    const fleet = replicas.broker.fleet;
    await enrol(replicas);
    await replicas.first.kill('SIGTERM'); // it has read the nodes before they were there
    await replicas.first.serve(false);
    await replicas.shared(1);
    const begun = performance.now();
    for (const [index, crowd] of crowds.entries()) {
      const nodes = Array.from({ length: NODES / CROWDS }, (_, n) => `node-${index}-${n}`);
      crowd.tell({
        type: 'begin',
        nodes,
        fleet,
        broker: replicas.broker.url,
        authority: replicas.broker.authority,
      });
    }
    await until(() => sum(crowds) === NODES);
    results.push({
      name: `${NODES} nodes connected, certificates made`,
      value: (performance.now() - begun) / 1000,
      unit: 's',
    });
    for (const count of [1, 2, 3]) {
      if (count > 1) await replicas.at(count - 1).serve(false);
      await replicas.shared(count);
      await until(async () => (await online(replicas)) === NODES);
      await delay(15_000); // statuses of all, and what was written of them
      results.push(...(await use(replicas, crowds, count)));
    }
    results.push(...(await back(replicas, crowds)));
    return results;
  } finally {
    for (const { process: child } of crowds) child.kill();
    await replicas.end();
  }
}

/** As if each had come with a code. */
async function enrol({ first, postgres }: Replicas): Promise<void> {
  const { x } = publicJwk(newSigningKey());
  const name = (await first.text('hub.yaml')).match(/hub_\d+/)?.[0] ?? '';
  await postgres.psql(
    `INSERT INTO nodes (id, name, profile, version, enrolled_at, key) SELECT 'node-' || p || '-' || n, 'node-' || p || '-' || n, 'drone', '1', 1, '${x}' FROM generate_series(0, ${CROWDS - 1}) p, generate_series(0, ${NODES / CROWDS - 1}) n`,
    name,
  );
}

async function use(replicas: Replicas, crowds: readonly Crowd[], count: number): Promise<readonly Result[]> {
  const hubs = replicas.hubs.slice(0, count);
  const measure = () => ({
    hubs: hubs.map(({ pid }) => cpuMicros(pid)),
    broker: cpuMicros(replicas.broker.pid),
    postgres: cpuOfTree(replicas.postgres.pid),
  });
  const before = measure();
  await delay(SECONDS * 1000);
  const after = measure();
  const percent = (from: number, to: number): number => (to - from) / SECONDS / 1e4;
  for (const crowd of crowds) {
    crowd.acknowledgedMs = [];
    crowd.tell({ type: 'events', perSecond: EVENTS_PER_SECOND / CROWDS });
  }
  await delay(SECONDS * 1000);
  for (const crowd of crowds) crowd.tell({ type: 'events', perSecond: 0 });
  await delay(2000);
  const times = crowds.flatMap(({ acknowledgedMs }) => acknowledgedMs).toSorted((a, b) => a - b);
  const at = `${count} replica${count === 1 ? '' : 's'}: `;
  return [
    ...hubs.map((hub, index) => ({
      name: `${at}hub ${index + 1}`,
      value: percent(before.hubs[index] ?? 0, after.hubs[index] ?? 0),
      unit: '% CPU',
      note: `${pssMib(hub.pid).toFixed(0)} MiB PSS`,
    })),
    { name: `${at}PostgreSQL`, value: percent(before.postgres, after.postgres), unit: '% CPU' },
    {
      name: `${at}broker`,
      value: percent(before.broker, after.broker),
      unit: '% CPU',
      note: `${pssMib(replicas.broker.pid).toFixed(0)} MiB PSS`,
    },
    {
      name: `${at}event to acknowledgement, p50`,
      value: median(times),
      unit: 'ms',
      note: `${times.length} events at ${EVENTS_PER_SECOND}/s`,
    },
    {
      name: `${at}event to acknowledgement, p99`,
      value: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
      unit: 'ms',
      goal: 250,
    },
  ];
}

/** The broker dies and comes back. */
async function back(replicas: Replicas, crowds: readonly Crowd[]): Promise<readonly Result[]> {
  await replicas.broker.kill();
  await until(() => sum(crowds) === 0);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, ...replicas.hubs.map(({ pid }) => pssMib(pid)));
  }, 250);
  const from = performance.now();
  await replicas.broker.run();
  await until(async () => sum(crowds) === NODES && (await online(replicas)) === NODES);
  clearInterval(watch);
  return [
    {
      name: 'broker killed: all nodes there again',
      value: (performance.now() - from) / 1000,
      unit: 's',
      goal: 60,
    },
    { name: 'broker killed: the largest hub meanwhile', value: most, unit: 'MiB PSS', goal: 150 },
  ];
}

async function online({ first }: Replicas): Promise<number> {
  return Number((await first.call('GET', '/v1/fleet')).body['online']);
}

function sum(crowds: readonly Crowd[]): number {
  return crowds.reduce((total, { connected }) => total + connected, 0);
}

async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (!(await fits())) {
    if (performance.now() > end) throw new Error('it took longer than the bench waits');
    await delay(200);
  }
}
