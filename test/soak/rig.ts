import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Serial } from '../../shared/async/serial.ts';
import { KEY } from '../support/edge.ts';
import { type NodeOptions, TestNode } from '../support/node.ts';
import { seeded } from '../support/seeded.ts';
import { type Asked, ask, membersOf, type Question } from './ask.ts';
import { Invariant } from './invariants.ts';
import type { Latency } from './report.ts';
import type { Vehicle } from './vehicles.ts';

/** What a fault takes away while it lasts. What is not named here must go on working. */
export interface Disturbance {
  /** The answers of the API, streams, video. */
  readonly node: boolean;
  /** The way from the vehicle to a ground station: svc-link, or what is before it. */
  readonly link: boolean;
  /** The cable to the other host. */
  readonly cable: boolean;
}

export const RULES = {
  whole: 'after each fault the node is whole again within the bound of the fault',
  answers: 'while no fault is on, each request is answered as it should be, 500 never',
  hangs: 'no request is without an answer for 30 s',
  config: 'a value that was acknowledged is there, or a later one',
  audit: 'the chain of the audit verifies after each fault, and each acknowledged change is announced in it',
  tokens: 'a revoked token is never accepted again, a kept one always',
  recordings: 'each recording that was stopped, or cut off by a fault, plays',
  mavlink:
    'a ground station on TCP is never without a frame for 5 s while svc-link is not disturbed, so also while svc-control is down',
  telemetry:
    'each telemetry WebSocket has a message every 5 s while no fault is on, and connects again after one',
  viewer: 'a WHEP viewer gets pictures within 30 s after each fault, and then every 5 s',
  logs: 'the log stream tells each change of the config once and in order, over restarts too',
  flights: 'each flight (take off, go, land) ends on the ground within 300 s',
  'flight log': 'each flight is one closed session in the log, but where svc-residual was away meanwhile',
  guard:
    'while the vehicle flies, no frame changes a parameter or reboots it, to whomever it is addressed, and no PUT without force',
  vehicles:
    'a second vehicle on the line is neither taken for ours nor commanded, and ours stays chosen, over restarts too',
  floods: 'while somebody floods the node, /api/status answers within 5 s, and a wrong key opens nothing',
  'sign-in':
    'who has signed in with the PIN stays so, over restarts, clock steps and faults; who has signed out does not come back',
  cable: 'a client on another host is answered within 30 s after its cable is back',
  growth:
    'no process grows: the lower end of its slope is below the limit; in a steady run both ends are within it',
  zombies: 'no process is a zombie in two looks, 1 s apart',
  leftovers: 'after the end no process, no socket and no temporary file is left, and no secret is in the log',
} as const;
export type Rule = keyof typeof RULES;

export interface RigOptions {
  readonly seed: number;
  readonly node: NodeOptions;
  readonly vehicle: Vehicle;
  readonly signal: AbortSignal;
  /** How long faults last: 1 as their names say. */
  readonly pace: number;
}

const OPERATIONAL = 400;

/** The node under test, what is disturbed at the moment, and what was found. */
export class Rig {
  node: TestNode;
  readonly options: RigOptions;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly invariants: Readonly<Record<Rule, Invariant>>;
  readonly counts: Record<string, number> = {};
  /** A flight holds it; a fault that ends the simulated vehicle waits for its turn. */
  readonly flights = new Serial();
  readonly latency: Readonly<Record<'calm' | 'fault', RecordableHistogram>> = {
    calm: createHistogram(),
    fault: createHistogram(),
  };
  readonly #started = performance.now();
  /** Since when nothing has been wrong with each, monotonic ms; null while something is. */
  readonly #since: Record<keyof Disturbance, number | null>;

  constructor(node: TestNode, options: RigOptions) {
    this.node = node;
    this.options = options;
    this.random = seeded(options.seed);
    this.signal = options.signal;
    const now = performance.now();
    this.#since = { node: now, link: now, cable: now };
    const entries = Object.entries(RULES).map(([name, rule]) => [
      name,
      new Invariant(name, rule, () => this.elapsed),
    ]);
    this.invariants = Object.fromEntries(entries) as Readonly<Record<Rule, Invariant>>;
  }

  /** Seconds since the start. */
  get elapsed(): number {
    return (performance.now() - this.#started) / 1000;
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Since when it has been well, monotonic ms; null while it is disturbed. */
  since(part: keyof Disturbance): number | null {
    return this.#since[part];
  }

  /** Whether it has been well since `at`. */
  wellSince(part: keyof Disturbance, at: number): boolean {
    const since = this.#since[part];
    return since !== null && since <= at;
  }

  disturb(what: Disturbance): void {
    for (const part of ['node', 'link', 'cable'] as const) if (what[part]) this.#since[part] = null;
  }

  /** All is well from now on. */
  settle(): void {
    for (const part of ['node', 'link', 'cable'] as const) this.#since[part] ??= performance.now();
  }

  /** A request; what it must be is checked here. @param expected further statuses that are right */
  async ask(path: string, question: Question = {}, expected: readonly number[] = []): Promise<Asked> {
    const at = performance.now();
    const answer = await ask(`${this.node.url}${path}`, question);
    const { status } = answer;
    const what = (): string =>
      `${question.method ?? 'GET'} ${path}: ${status === 0 ? 'connection lost' : status}, ${answer.body.toString().slice(0, 160)}`;
    const { hangs, answers } = this.invariants;
    hangs.check(status !== null, what);
    hangs.worst('longest answer ms', performance.now() - at);
    this.count('requests');
    if (status === 500) answers.broke(what());
    else if (this.wellSince('node', at))
      answers.check(
        status !== null && ((status > 0 && status < OPERATIONAL) || expected.includes(status)),
        what,
      );
    return answer;
  }

  async json(path: string, question: Question = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.ask(path, question);
    return answer.status === 200 ? membersOf(answer) : {};
  }

  /**
   * Resolves when all processes run, a vehicle is heard and pictures come.
   * @param since monotonic ms: a heartbeat from before it may be of a vehicle that has just been killed
   * @param signal ends the waiting; by default that is the end of the run
   */
  async whole(since = 0, signal = this.signal): Promise<void> {
    while (!(await this.#isWhole(since))) {
      signal.throwIfAborted();
      await wait(100);
    }
  }

  async #isWhole(since: number): Promise<boolean> {
    const { services } = this.node;
    if (services.length < 2 || services.some(({ state }) => state !== 'running')) return false;
    if ((await ask(`${this.node.url}/readyz`, {})).status !== 200) return false;
    const asked = performance.now();
    const telemetry = membersOf(await ask(`${this.node.url}/api/telemetry`, {}));
    const heartbeatAt = asked - Number(telemetry['heartbeat_age_s']) * 1000;
    const video = membersOf(await ask(`${this.node.url}/api/video`, {}));
    const heard = telemetry['mavlink_alive'] === true && heartbeatAt >= since;
    return heard && video['state'] === 'running' && video['fps'] !== null;
  }

  /** The node with a new supervisor, as systemd starts it. */
  async resume(): Promise<void> {
    this.node = await TestNode.resume(this.node, this.options.node);
  }

  /** Runs `work` again and again with a pause, until the end. */
  async repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.signal.aborted) {
      await work();
      await this.pause(pauseMs);
    }
  }

  /** Returns early at the end of the run. */
  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.signal }).catch(() => undefined);
  }

  latencies(): Readonly<Record<'between faults' | 'during faults', Latency>> {
    return { 'between faults': latencyOf(this.latency.calm), 'during faults': latencyOf(this.latency.fault) };
  }
}

function latencyOf(times: RecordableHistogram): Latency {
  const { count } = times;
  const ms = (ns: number): number | null => (count === 0 ? null : ns / 1e6);
  return { count, p50: ms(times.percentile(50)), p99: ms(times.percentile(99)), max: ms(times.max) };
}

/** Signs of life of a stream: the longest silence while its way was not disturbed. */
export class Pulse {
  readonly #rig: Rig;
  readonly #invariant: Invariant;
  readonly #part: keyof Disturbance;
  readonly #limitMs: number;
  /** After a disturbance the stream has this long to come back. */
  readonly #backMs: number;
  #last = performance.now();
  #told = false;

  constructor(rig: Rig, rule: Rule, part: keyof Disturbance, limitMs: number, backMs = limitMs) {
    this.#rig = rig;
    this.#invariant = rig.invariants[rule];
    this.#part = part;
    this.#limitMs = limitMs;
    this.#backMs = backMs;
  }

  beat(): void {
    this.look();
    this.#last = performance.now();
    this.#told = false;
  }

  /** Called once a second too, because a stream that is dead tells nothing. */
  look(): void {
    const since = this.#rig.since(this.#part);
    if (since === null || this.#told) return;
    const fresh = since <= this.#last;
    const silence = performance.now() - Math.max(this.#last, since);
    const limit = fresh ? this.#limitMs : this.#backMs;
    this.#invariant.worst(fresh ? 'longest silence ms' : 'longest way back ms', silence);
    this.#told = silence > limit;
    this.#invariant.check(!this.#told, () => `silent for ${Math.round(silence)} ms, at most ${limit}`);
  }
}

export const KEYED = { 'x-svc-key': KEY } as const;
