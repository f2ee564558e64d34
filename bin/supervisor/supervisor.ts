import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { deferred } from '../../shared/async/deferred.ts';
import { Serial } from '../../shared/async/serial.ts';
import type { ConfigInForce, KeyValues } from '../../shared/config/in-force.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import type { Init } from '../../shared/process/child.ts';
import { type Server, serverOf } from '../../shared/rpc/contract.ts';
import {
  type ChildState,
  type ChildStatus,
  type Restarted,
  SUPERVISOR,
} from '../../shared/rpc/supervisor.ts';
import { ArmedConfig } from './armed-config.ts';
import { type ChildSpec, type DeclaredChild, SupervisedChild, type WatchLimits } from './child.ts';
import { ChildRecord } from './orphans.ts';

const OWN_NAME = 'svc-supervisor';
const LINK = 'svc-link';
const FRONT = 'svc-control';
/** How long what starts later waits for svc-control. */
const LATER_MS = 1000;
/** More extensions than a board can run. */
const MAX_DECLARED = 16;
const NAME = /^svc-[a-z0-9-]{1,40}$/;

interface SupervisorOptions {
  /**
   * Every process of a node in start order, and whether the config enables it; stopped in reverse, so that svc-control can
   * finish requests while the others still answer.
   */
  readonly plan: () => Promise<readonly ChildSpec[]>;
  readonly socketPath: string;
  /** The file with the list of its processes, for the next supervisor. */
  readonly recordPath: string;
  /** Where the guarded config keys are held while the vehicle is armed. */
  readonly heldPath: string;
  /** The guarded config keys with which the newest plan was made. */
  readonly planned: () => ConfigInForce | null;
  readonly onLine: (line: string) => void;
  readonly onState: (name: string, state: ChildState) => void;
  /** svc-link has said whether a vehicle is armed, or may be. */
  readonly onArmed?: (armed: boolean) => void;
  /** Called when a restart of the whole node is requested. */
  readonly onRestartSelf: () => void;
  readonly limits: WatchLimits;
}

/** Runs the processes of the node, and serves supervisor.sock. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #children: readonly SupervisedChild[] = [];
  #declared: readonly SupervisedChild[] = [];
  readonly #declarations = new Serial();
  #stopping = false;
  readonly #answers = deferred();
  readonly #server: Server<typeof SUPERVISOR>;
  readonly #record: ChildRecord;
  readonly #armedConfig: ArmedConfig;
  readonly #init: Init = { secret: randomBytes(32).toString('base64url'), nodeStartedAt: uptime() };
  readonly #startedAt = performance.now();

  constructor(options: SupervisorOptions) {
    this.#record = new ChildRecord(options.recordPath, (text) => options.onLine(`svc-supervisor: ${text}`));
    this.#options = options;
    this.#armedConfig = new ArmedConfig({
      paths: { heldConfig: options.heldPath },
      running: () => this.#guarded(),
      onProblem: (text) => options.onLine(`svc-supervisor: ${text}`),
    });
    this.#server = serverOf(SUPERVISOR, {
      path: options.socketPath,
      handlers: {
        status: () => ({ services: this.status() }),
        restart: async ({ name }) => this.#restart(name),
        restart_self: () => {
          options.onRestartSelf();
          return { accepted: true };
        },
      },
      greeting: () => [['services', this.status()]],
      onError: (error) => options.onLine(`svc-supervisor: ${messageOf(error)}`),
    });
  }

  /** @throws Error when another supervisor runs this node */
  async start(signal: AbortSignal): Promise<void> {
    await this.#server.start();
    await this.#record.endOrphans();
    const plan = await this.#options.plan();
    signal.throwIfAborted();
    this.#children = plan.filter(({ wanted }) => wanted).map((spec) => this.#create(spec));
    const later = new Set(plan.filter((spec) => spec.later === true).map(({ name }) => name));
    const isLater = ({ spec }: SupervisedChild): boolean => later.has(spec.name);
    for (const child of this.#children) if (!isLater(child)) child.start();
    if (!this.#children.some(isLater)) return;
    await Promise.race([this.#answers.promise, delay(LATER_MS, undefined, { signal })]);
    // One that was restarted meanwhile runs already, and goes on.
    for (const child of this.#children) if (isLater(child)) child.start();
  }

  /**
   * Replaces the declared processes, which run besides those of the plan: new ones are started, missing ones stopped, changed
   * ones restarted, the same ones keep running. Each has its memory ceiling, and is restarted, parked and stopped like any
   * other. Resolves when all have been started or stopped.
   * @throws ApiError E_INVALID_VALUE: nothing was changed; E_DRAINING when the node stops
   */
  async declare(children: readonly DeclaredChild[]): Promise<void> {
    const taken = [OWN_NAME, ...(await this.#options.plan()).map(({ name }) => name)];
    const wrong = problemOf(children, taken);
    if (wrong !== null) throw new ApiError('E_INVALID_VALUE', wrong);
    await this.#declarations.run(async () => this.#reconcile(children));
  }

  async #reconcile(children: readonly DeclaredChild[]): Promise<void> {
    const isWanted = ({ spec }: SupervisedChild): boolean =>
      children.some((other) => isDeepStrictEqual(other, spec));
    const leaving = this.#declared.filter((child) => !isWanted(child));
    await Promise.all(leaving.map(async (child) => child.stop()));
    if (this.#stopping) throw new ApiError('E_DRAINING');
    const kept = this.#declared.filter(isWanted);
    const fresh = children
      .filter(({ name }) => !kept.some(({ spec }) => spec.name === name))
      .map((spec) => this.#create(spec));
    this.#declared = [...kept, ...fresh];
    // Before the others in the list, which is stopped in reverse: svc-control stops first.
    this.#children = [...fresh, ...this.#children.filter((child) => !leaving.includes(child))];
    for (const child of fresh) child.start();
    this.#tell();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#armedConfig.stop();
    // The front first: its requests in flight still need the processes behind it (docs/contract/node.md#processes).
    const [front, ...others] = this.#children.toReversed();
    await front?.stop();
    await Promise.all(others.map(async (child) => child.stop()));
    await this.#server.stop();
  }

  /** Kills everything at once, after a second stop signal. */
  kill(): void {
    for (const child of this.#children) child.kill();
  }

  /** Whether every process runs or is parked, so that there is nothing to wait for. */
  get settled(): boolean {
    return this.#children.every(({ state }) => state === 'running' || state === 'parked');
  }

  /** For a person, for example `svc-video is parked, 4 of 5 processes run`. */
  get summary(): string {
    const running = this.#children.filter(({ state }) => state === 'running').length;
    const others = this.#children.filter(({ state }) => state !== 'running');
    const named = others.map(({ spec, state }) => `${spec.name} is ${state}, `).join('');
    return `${named}${running} of ${this.#children.length} processes run`;
  }

  get allRunning(): boolean {
    return this.#children.every(({ state }) => state === 'running');
  }

  /**
   * False while svc-link does not answer and does not end although it was killed: the supervisor can do no more. Other
   * processes may hang like that too, for example in a camera's driver, but the link still works then.
   */
  get linkHealthy(): boolean {
    return this.child(LINK)?.unkillable !== true;
  }

  child(name: string): SupervisedChild | undefined {
    return this.#children.find(({ spec }) => spec.name === name);
  }

  #create(spec: DeclaredChild): SupervisedChild {
    const { onLine, onState, limits } = this.#options;
    const hooks = {
      onLine,
      onHangs: () => this.#tell(),
      onState: (state: ChildState) => {
        if (state === 'running') this.#runs(spec.name);
        if (state === 'running' && spec.name === FRONT) this.#answers.resolve();
        this.#tell();
        onState(spec.name, state);
      },
      onArmed: (armed: boolean) => {
        this.#armedConfig.told(armed);
        this.#options.onArmed?.(armed);
      },
    };
    return new SupervisedChild(spec, this.#init, hooks, limits);
  }

  #runs(name: string): void {
    if (name === LINK) this.#armedConfig.linkRuns();
    else if (this.#armedConfig.holds) this.#armedConfig.hold();
  }

  /** The guarded config keys with which each process runs. */
  #guarded(): Readonly<Record<string, KeyValues>> {
    const own = this.#options.planned()?.guarded ?? null;
    const all = [
      ...this.#children.map(({ spec, guarded }) => [spec.name, guarded] as const),
      [OWN_NAME, own] as const,
    ];
    return Object.fromEntries(all.flatMap(([name, guarded]) => (guarded === null ? [] : [[name, guarded]])));
  }

  #tell(): void {
    this.#record.write(this.#children.map((child) => child.status()));
    this.#server.tell('services', this.status());
  }

  /**
   * Restarts a process with the present config; it and the processes that depend on it are started or stopped if the config has
   * changed.
   * @throws ApiError E_NOT_FOUND, E_TIMEOUT, E_DRAINING
   */
  async #restart(name: string): Promise<Restarted> {
    const declared = this.#declared.find(({ spec }) => spec.name === name);
    if (declared !== undefined) return declared.restart();
    // In flight it neither ends a process that the config no longer has, nor starts one that it has now.
    const present = this.child(name);
    if (this.#armedConfig.holds && present !== undefined) {
      // The config is on the disk: where that stands still, what flies begins anew all the same.
      this.#followIn(this.#options.plan(), name).catch((error: unknown) => {
        this.#options.onLine(`svc-supervisor: ${messageOf(error)}`);
      });
      return present.restart();
    }
    const planned = this.#options.plan();
    await this.#followIn(planned, name);
    const all = await planned;
    const concerned = new Set(
      all.filter((spec) => spec.name === name || spec.follows === name).map((spec) => spec.name),
    );
    const concerns = (spec: DeclaredChild): boolean => concerned.has(spec.name);
    if (!concerned.has(name)) {
      const names = [...all, ...this.#declared.map(({ spec }) => spec)].map((spec) => spec.name).join(', ');
      throw new ApiError('E_NOT_FOUND', `There is no process ${name} to restart. There are ${names}.`);
    }
    const pid = this.child(name)?.status().pid ?? null;
    const plan = all.filter(({ wanted }) => wanted);
    const unwanted = this.#children.filter(
      ({ spec }) => concerns(spec) && !plan.some((other) => other.name === spec.name),
    );
    await Promise.all(unwanted.map(async (child) => child.stop()));
    const others = this.#children.filter((child) => !unwanted.includes(child));
    const fresh: SupervisedChild[] = [];
    for (const spec of plan.filter(concerns)) {
      const child = others.find((other) => other.spec.name === spec.name);
      if (child === undefined) fresh.push(this.#create(spec));
      else child.spec = spec;
    }
    const order = new Map(plan.map((spec, index) => [spec.name, index]));
    const place = ({ spec }: SupervisedChild): number => order.get(spec.name) ?? -1;
    this.#children = [...others, ...fresh].toSorted((a, b) => place(a) - place(b));
    if (unwanted.length > 0) this.#tell();
    for (const child of fresh) if (child.spec.name !== name) child.start();
    return (await this.child(name)?.restart()) ?? { pid_before: pid, pid_after: null };
  }

  /** What runs, follows `name` and has other arguments now begins anew, beside it: neither waits for the other. */
  async #followIn(plan: Promise<readonly ChildSpec[]>, name: string): Promise<void> {
    for (const spec of await plan) {
      const child = this.child(spec.name);
      if (child === undefined || spec.follows !== name || !spec.wanted) continue;
      if (isDeepStrictEqual(child.spec.args, spec.args)) continue;
      child.spec = spec;
      child.restart().catch((error: unknown) => {
        this.#options.onLine(`svc-supervisor: ${spec.name}: ${messageOf(error)}`);
      });
    }
  }

  status(): readonly ChildStatus[] {
    const own: ChildStatus = {
      name: OWN_NAME,
      state: 'running',
      hangs: false,
      pid: process.pid,
      restarts: 0,
      uptime_seconds: Math.floor((performance.now() - this.#startedAt) / 1000),
      last_exit: null,
      last_words: [],
      restart_required: this.#options.planned()?.waiting ?? [],
    };
    return [own, ...this.#children.map((child) => child.status())];
  }
}

/** @param taken the names of other processes. @returns a sentence, null if there is no problem */
function problemOf(children: readonly DeclaredChild[], taken: readonly string[]): string | null {
  if (children.length > MAX_DECLARED) return `At most ${MAX_DECLARED} processes can be declared.`;
  const seen = new Set(taken);
  for (const { name, memoryMiB } of children) {
    if (!NAME.test(name))
      return `${name}: the name of a process is svc- and up to 40 small letters, digits and dashes.`;
    if (seen.has(name)) return `There is a process ${name} already.`;
    if (!(memoryMiB > 0)) return `${name} has no memory to run in.`;
    seen.add(name);
  }
  return null;
}
