import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '../../shared/fleet/topics.ts';
import { Broker } from '../support/mosquitto.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import type { HubCounts, ToHub } from './fleet-hub.ts';
import type { FromNodes, ToNodes } from './fleet-nodes.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const NODES = Number(process.env['SVC_BENCH_NODES'] ?? 1000);
const SECONDS = Number(process.env['SVC_BENCH_SECONDS'] ?? 300);
const PROCESSES = 4;
const CALLS = 500;
const CALLER = 'mc_bench0001';
/** Events of each node while the telemetry runs, and around the death of the broker. */
const EVENT_EVERY_S = 10;
const LONGEST_MS = 300_000;

/** A part of the nodes, in a process of its own. */
class Nodes {
  readonly process: ChildProcess;
  state: Extract<FromNodes, { type: 'state' }> = { type: 'state', connected: 0, events: 0, behind: 0 };

  constructor() {
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
 * Many fleet clients against one Mosquitto on this machine: how soon all are connected, whether telemetry is lost, what the death of
 * the broker costs, and what broker and clients need. A stand-in takes the place of the hub, and of svc-control.
 */
export async function benchFleet(): Promise<readonly Result[]> {
  // A file descriptor a node, in the broker.
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${NODES * 4 + 1000}:`]);
  const folder = await tempDir();
  const broker = await Broker.start(folder);
  const hub = fork(join(import.meta.dirname, 'fleet-hub.ts'));
  const parts = Array.from({ length: PROCESSES }, () => new Nodes());
  const { fleet, authority, url } = broker;
  const ask = async (message: ToHub): Promise<HubCounts> => {
    hub.send(message);
    const [counts] = (await once(hub, 'message')) as [HubCounts];
    return counts;
  };
  const connected = (): number => parts.reduce((sum, { state }) => sum + state.connected, 0);
  const events = (): void => {
    for (const part of parts) part.tell({ type: 'events' });
  };
  const cpu = (): number => parts.reduce((sum, part) => sum + cpuMicros(part.process.pid ?? 0), 0);
  try {
    await ask({ type: 'begin', broker: url, fleet, identity: await broker.identity('hub') });
    await Promise.all(
      parts.map(async (part, index) => {
        const nodes = Array.from({ length: Math.ceil(NODES / PROCESSES) }, (_, n) => `node-${index}-${n}`);
        part.tell({ type: 'begin', nodes, fleet, broker: url, authority });
        await once(part.process, 'message');
      }),
    );
    const all = PROCESSES * Math.ceil(NODES / PROCESSES);
    const emptyMib = pssMib(broker.pid);
    const begun = performance.now();
    for (const part of parts) part.tell({ type: 'connect' });
    await until(() => connected() === all);
    const connectS = (performance.now() - begun) / 1000;

    await delay(5000); // the burst of statuses is over
    const settled = await ask({ type: 'forget telemetry' });
    const before = { broker: cpuMicros(broker.pid), nodes: cpu() };
    let rounds = 0;
    for (let second = 0; second < SECONDS; second++) {
      if (second % EVENT_EVERY_S === 0) {
        events();
        rounds++;
      }
      await delay(1000);
    }
    const steady = await ask({ type: 'count' });
    const brokerCpu = (cpuMicros(broker.pid) - before.broker) / SECONDS / 1e4;
    const nodeCpu = (cpu() - before.nodes) / SECONDS / 1e4 / all;
    const brokerMib = pssMib(broker.pid);
    const trips = await roundTrips(broker, all);

    await broker.kill();
    await until(() => connected() === 0);
    for (let n = 0; n < 3; n++, rounds++) events();
    const back = performance.now();
    await broker.run();
    await until(() => connected() === all);
    const backS = (performance.now() - back) / 1000;
    let last = await ask({ type: 'count' });
    while (last.fewestEvents < rounds && performance.now() - back < LONGEST_MS) {
      await delay(500);
      last = await ask({ type: 'count' });
    }
    const eventsS = (performance.now() - back) / 1000;
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
      { name: 'call and reply through the broker, p50', value: median(trips), unit: 'ms' },
      { name: 'call and reply through the broker, p99', value: at(trips, 0.99), unit: 'ms' },
      { name: 'broker killed: all connected again', value: backS, unit: 's' },
      { name: 'broker killed: every event has arrived', value: eventsS, unit: 's' },
      { name: 'events that did not arrive', value: rounds - last.fewestEvents, unit: 'a node', goal: 0 },
      {
        name: 'events out of order or twice',
        value: last.outOfOrder,
        unit: '',
        goal: 0,
        note: `${last.repeats} were sent again, and known`,
      },
      { name: 'broker', value: brokerCpu, unit: '% CPU' },
      { name: 'broker', value: brokerMib, unit: 'MiB PSS' },
      { name: 'broker a node', value: ((brokerMib - emptyMib) * 1024) / all, unit: 'KiB' },
      { name: 'client', value: nodeCpu, unit: '% CPU', note: 'a node, many in a process' },
    ];
  } finally {
    for (const { process: child } of parts) child.kill();
    hub.kill();
    await broker.kill();
    await removeDir(folder);
  }
}

async function until(fits: () => boolean): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (!fits()) {
    if (performance.now() > end) throw new Error('it took longer than the bench waits');
    await delay(50);
  }
}

/** A caller asks nodes one after the other. @returns ms, sorted */
async function roundTrips(broker: Broker, all: number): Promise<readonly number[]> {
  const caller = await broker.client(CALLER);
  // A message is several writes; otherwise each waits for the acknowledgement of the one before.
  if (caller.stream instanceof Socket) caller.stream.setNoDelay(true);
  await caller.subscribeAsync(topics.replies(broker.fleet, CALLER), { qos: 1 });
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const node = `node-${n % PROCESSES}-${Math.floor((n * 7) % (all / PROCESSES))}`;
    const begun = performance.now();
    const replied = new Promise<void>((resolve) => caller.once('message', () => resolve()));
    caller.publish(topics.call(broker.fleet, node, CALLER), `call ${n}`, { qos: 1 });
    await replied;
    times.push(performance.now() - begun);
  }
  await caller.endAsync(true);
  return times.toSorted((a, b) => a - b);
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}
