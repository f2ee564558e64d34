import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { readHubConfig } from '../../bin/hub/config.ts';
import { placesIn } from '../../bin/hub/places.ts';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { TestHub } from '../support/hub.ts';
import { Broker } from '../support/mosquitto.ts';
import type { FromNodes, ToNodes } from './fleet-nodes.ts';
import type { Counts, ToObserver } from './fleet-observer.ts';
import type { FromPeople, ToPeople } from './fleet-people.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

/** By MQTT over TLS, or by WebSocket. */
const BY_WEB_SOCKET = process.env['SVC_BENCH_WSS'] === '1';
const NODES = Number(process.env['SVC_BENCH_NODES'] ?? 1000);
const SECONDS = Number(process.env['SVC_BENCH_SECONDS'] ?? 300);
/** One of them is a third of the nodes. */
const PROCESSES = 3;
const CALLS = 500;
const SIGNED = 200;
const CALLER = 'mc_bench0001';
/** Events of each node while the telemetry runs; three more around each death. */
const EVENT_EVERY_S = 10;
/** People who look at one node each, at this rate. */
const LOOKERS = 50;
const LOOKED_HZ = 5;
const LOOK_S = 30;
const LOOKERS_EACH = 8;
const LONGEST_MS = 300_000;

/** A part of the nodes, in a process of its own. */
class Nodes {
  readonly names: readonly string[];
  readonly process: ChildProcess;
  state: Extract<FromNodes, { type: 'state' }> = { type: 'state', connected: 0, events: 0, behind: 0 };

  constructor(names: readonly string[]) {
    this.names = names;
    this.process = fork(join(import.meta.dirname, 'fleet-nodes.ts'));
    this.process.on('message', (message: FromNodes) => {
      if (message.type === 'state') this.state = message;
    });
  }

  tell(message: ToNodes): void {
    this.process.send(message);
  }
}

/**
 * Many fleet clients against one Mosquitto and one svc-hub on this machine: how soon all are connected, whether telemetry is lost,
 * what the death of the broker, the hub and a third of the nodes costs, and what each of them needs. svc-control has a stand-in.
 */
export async function benchFleet(): Promise<readonly Result[]> {
  // A file descriptor a node, in the broker.
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${NODES * 4 + 1000}:`]);
  const perProcess = Math.ceil(NODES / PROCESSES);
  const all = PROCESSES * perProcess;
  const hub = await TestHub.init();
  const places = placesIn(hub.folder);
  const [{ fleet, broker: at }, ca, caKey] = await Promise.all([
    readHubConfig(places.config),
    ...[places.ca, places.caKey].map(async (file) => readFile(file, 'utf8')),
  ]);
  if (ca === undefined || caKey === undefined) throw new Error('the hub has no authority');
  const authority = { certificate: ca, key: caKey };
  const broker = await Broker.start(join(hub.folder, '..'), fleet, authority, Number(new URL(at.url).port));
  const parts = Array.from(
    { length: PROCESSES },
    (_, index) => new Nodes(Array.from({ length: perProcess }, (_each, n) => `node-${index}-${n}`)),
  );
  const signing = newSigningKey();
  const ids = parts.flatMap((part) => part.names);
  enrol(places.database, ids, publicJwk(signing).x);
  const pem = signing.export({ type: 'pkcs8', format: 'pem' }).toString();
  const people = fork(join(import.meta.dirname, 'fleet-people.ts'));
  const askPeople = async (message: ToPeople): Promise<FromPeople> => {
    people.send(message);
    const failed = once(people, 'exit').then(() => {
      throw new Error('the people of the bench have ended');
    });
    const [answer] = (await Promise.race([once(people, 'message'), failed])) as [FromPeople];
    return answer;
  };
  const observer = fork(join(import.meta.dirname, 'fleet-observer.ts'));
  const ask = async (message: ToObserver): Promise<Counts> => {
    observer.send(message);
    const [counts] = (await once(observer, 'message')) as [Counts];
    return counts;
  };
  const live = [...parts];
  const connected = (): number => live.reduce((total, { state }) => total + state.connected, 0);
  let rounds = 0;
  /** The hub has acknowledged all events, also those that were told to be made just now. */
  const told = (): boolean => live.every(({ state }) => state.events === rounds && state.behind === 0);
  const events = (): void => {
    for (const part of live) part.tell({ type: 'events' });
    rounds++;
  };
  const online = async (): Promise<number> => Number((await hub.call('GET', '/v1/fleet')).body['online']);
  const cpu = (): number => parts.reduce((total, { process: { pid = 0 } }) => total + cpuMicros(pid), 0);
  try {
    await hub.serve(false);
    const identity = await broker.observer('observer');
    await ask({ type: 'begin', broker: broker.url, fleet, identity });
    for (const part of parts) {
      const url = BY_WEB_SOCKET ? broker.wsUrl : broker.url;
      part.tell({ type: 'begin', nodes: part.names, fleet, broker: url, authority, signing: pem });
      await once(part.process, 'message');
    }
    const empty = { broker: pssMib(broker.pid), hub: pssMib(hub.pid) };
    const begun = performance.now();
    for (const part of parts) part.tell({ type: 'connect' });
    await until(() => connected() === all);
    const connectS = (performance.now() - begun) / 1000;

    await delay(5000); // the burst of statuses is over
    const settled = await ask({ type: 'forget telemetry' });
    const before = { broker: cpuMicros(broker.pid), hub: cpuMicros(hub.pid), nodes: cpu() };
    for (let second = 0; second < SECONDS; second++) {
      if (second % EVENT_EVERY_S === 0) events();
      await delay(1000);
    }
    const steady = await ask({ type: 'count' });
    const percent = (from: number, to: number): number => (to - from) / SECONDS / 1e4;
    const used = {
      broker: percent(before.broker, cpuMicros(broker.pid)),
      hub: percent(before.hub, cpuMicros(hub.pid)),
      nodes: percent(before.nodes, cpu()) / all,
    };
    const memory = { broker: pssMib(broker.pid), hub: pssMib(hub.pid) };
    const trips = await roundTrips(broker, parts);
    const signed = await askPeople({
      type: 'call',
      hub: hub.url,
      credential: hub.operator,
      nodes: ids,
      count: SIGNED,
    });
    const looked = await lookers(hub, ids, askPeople, broker);
    const lists: number[] = [];
    for (let n = 0; n < 20; n++) {
      const asked = performance.now();
      await hub.call('GET', '/v1/nodes?limit=1000');
      lists.push(performance.now() - asked);
    }

    const burst = (): void => {
      for (let n = 0; n < 3; n++) events();
    };
    const allThere = async (): Promise<void> => until(() => connected() === all && told());
    await broker.kill();
    await until(() => connected() === 0);
    burst();
    const brokerBack = performance.now();
    await broker.run();
    await until(() => connected() === all);
    const reconnectS = (performance.now() - brokerBack) / 1000;
    await allThere();
    const brokerS = (performance.now() - brokerBack) / 1000;

    await hub.kill();
    burst();
    await delay(2000);
    const hubBack = performance.now();
    await hub.serve(false);
    await allThere();
    const hubS = (performance.now() - hubBack) / 1000;

    const [gone] = live.splice(0, 1);
    const killed = performance.now();
    gone?.process.kill('SIGKILL');
    await until(async () => (await online()) === all - perProcess);
    const goneS = (performance.now() - killed) / 1000;
    burst();
    await until(told);
    const wrong = wrongEvents(
      places.database,
      new Map([
        ...live.flatMap(({ names }) => names.map((name) => [name, rounds] as const)),
        ...(gone?.names ?? []).map((name) => [name, rounds - 3] as const),
      ]),
    );
    return [
      { name: `${all} nodes connected`, value: connectS, unit: 's', goal: 30 },
      { name: 'telemetry at 1 Hz, messages', value: steady.telemetry, unit: '', note: `in ${SECONDS} s` },
      {
        name: 'connections that broke meanwhile',
        value: steady.sessions - settled.sessions,
        unit: '',
        goal: 0,
      },
      { name: 'telemetry lost', value: steady.telemetryLost, unit: '', goal: 0 },
      { name: 'all nodes in one list, median', value: median(lists), unit: 'ms', goal: 1000 },
      { name: 'call and reply through the broker, p50', value: median(trips), unit: 'ms', note: 'unsigned' },
      {
        name: 'call and reply through the broker, p99',
        value: trips[Math.floor(CALLS * 0.99)] ?? Number.NaN,
        unit: 'ms',
      },
      {
        name: 'call signed, through hub and broker, reply verified, p50',
        value: median(signed),
        unit: 'ms',
      },
      {
        name: 'call signed, through hub and broker, reply verified, p99',
        value: signed[Math.floor(SIGNED * 0.99)] ?? Number.NaN,
        unit: 'ms',
      },
      ...looked,
      { name: 'broker killed: all connected again', value: reconnectS, unit: 's' },
      { name: 'broker killed: the hub has every event', value: brokerS, unit: 's' },
      { name: 'hub killed: it has every event', value: hubS, unit: 's' },
      { name: 'a third of the nodes killed: the hub says so', value: goneS, unit: 's' },
      {
        name: 'nodes with an event lost, twice or out of order',
        value: wrong,
        unit: '',
        goal: 0,
        note: `${rounds} events each`,
      },
      { name: 'broker', value: used.broker, unit: '% CPU' },
      { name: 'broker', value: memory.broker, unit: 'MiB PSS' },
      { name: 'broker a node', value: ((memory.broker - empty.broker) * 1024) / all, unit: 'KiB' },
      { name: 'hub', value: used.hub, unit: '% CPU' },
      { name: 'hub', value: memory.hub, unit: 'MiB PSS' },
      { name: 'hub a node', value: ((memory.hub - empty.hub) * 1024) / all, unit: 'KiB' },
      { name: 'client', value: used.nodes, unit: '% CPU', note: 'a node, many in a process' },
    ];
  } finally {
    for (const { process: child } of parts) child.kill();
    observer.kill();
    people.kill();
    await hub.stop();
    await broker.kill();
  }
}

/** Fifty people who look at one node each: whether each gets what they asked for, and what that costs. */
async function lookers(
  hub: TestHub,
  names: readonly string[],
  ask: (message: ToPeople) => Promise<FromPeople>,
  broker: Broker,
): Promise<readonly Result[]> {
  const credentials: string[] = [];
  for (let n = 0; n < Math.ceil(LOOKERS / LOOKERS_EACH); n++)
    credentials.push((await hub.command(['operator', `looker ${n}`])).stdout.trim());
  const all = Array.from({ length: LOOKERS }, (_, n) => ({
    node: names[(n * 13) % names.length] ?? '',
    credential: credentials[n % credentials.length] ?? '',
  }));
  const before = [cpuMicros(hub.pid), cpuMicros(broker.pid)];
  const begun = performance.now();
  const rates = await ask({ type: 'look', hub: hub.url, lookers: all, hz: LOOKED_HZ, seconds: LOOK_S });
  const took = (performance.now() - begun) * 10; // µs of one percent
  const [hubUsed, brokerUsed] = [cpuMicros(hub.pid), cpuMicros(broker.pid)].map(
    (after, index) => (after - (before[index] ?? 0)) / took,
  );
  const note = `${LOOKERS} lookers at ${LOOKED_HZ} Hz`;
  return [
    {
      name: 'telemetry to the slowest looker',
      value: Math.min(...rates),
      unit: 'Hz',
      higher: true,
      goal: 4.5,
      note,
    },
    { name: 'hub while they look', value: hubUsed ?? Number.NaN, unit: '% CPU', note },
    { name: 'broker while they look', value: brokerUsed ?? Number.NaN, unit: '% CPU', note },
  ];
}

/** As if each had come with a code; that takes a request each, of which the hub allows few at once. */
function enrol(database: string, names: readonly string[], x: string): void {
  const db = new DatabaseSync(database);
  const insert = db.prepare(
    "INSERT INTO nodes (id, name, profile, version, enrolled_at, key) VALUES (?, ?, 'drone', '0.1.0', 1, ?)",
  );
  db.exec('BEGIN');
  for (const name of names) insert.run(name, name, x);
  db.exec('COMMIT');
  db.close();
}

/** How many nodes have other events in the database than their own, once each and in order. */
function wrongEvents(database: string, rounds: ReadonlyMap<string, number>): number {
  const db = new DatabaseSync(database, { readOnly: true });
  const rows = db.prepare("SELECT node, detail FROM events WHERE kind = 'vehicle.mode' ORDER BY id").all();
  db.close();
  const next = new Map<string, number>();
  const wrong = new Set<string>();
  for (const { node, detail } of rows) {
    const name = String(node);
    const expected = next.get(name) ?? 0;
    if ((JSON.parse(String(detail)) as { readonly n: number }).n !== expected) wrong.add(name);
    next.set(name, expected + 1);
  }
  for (const [name, count] of rounds) if (next.get(name) !== count) wrong.add(name);
  return wrong.size;
}

async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (!(await fits())) {
    if (performance.now() > end) throw new Error('it took longer than the bench waits');
    await delay(50);
  }
}

/** A caller asks nodes one after the other. @returns ms, sorted */
async function roundTrips(broker: Broker, parts: readonly Nodes[]): Promise<readonly number[]> {
  const caller = await broker.client(CALLER);
  // A message is several writes; otherwise each waits for the acknowledgement of the one before.
  if (caller.stream instanceof Socket) caller.stream.setNoDelay(true);
  await caller.subscribeAsync(topics.replies(broker.fleet, CALLER), { qos: 1 });
  const names = parts.flatMap((part) => part.names);
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const begun = performance.now();
    const replied = new Promise<void>((resolve) => caller.once('message', () => resolve()));
    caller.publish(topics.call(broker.fleet, names[(n * 7) % names.length] ?? '', CALLER), `call ${n}`, {
      qos: 1,
    });
    await replied;
    times.push(performance.now() - begun);
  }
  await caller.endAsync(true);
  return times.toSorted((a, b) => a - b);
}
