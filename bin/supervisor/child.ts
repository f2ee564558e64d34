import { type ChildProcess, spawn } from 'node:child_process';
import { Backoff } from '../../shared/async/backoff.ts';
import { every } from '../../shared/async/every.ts';
import type { KeyValues } from '../../shared/config/in-force.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { maskText } from '../../shared/mask.ts';
import type { JsonObject } from '../../shared/member.ts';
import type { FromChild, Init, ReportedConfig, ToChild } from '../../shared/process/child.ts';
import { memoryOf } from '../../shared/process/memory.ts';
import { offline } from '../../shared/process/offline.ts';
import { offerToKernel } from '../../shared/process/oom-score.ts';
import { LineSplitter } from '../../shared/rpc/lines.ts';
import type { ChildState, ChildStatus, Restarted } from '../../shared/rpc/supervisor.ts';
import { ARMED_MS } from './armed-config.ts';
import { lastWords } from './last-words.ts';
import { busyness, startLimit } from './start-limit.ts';

/** One process of the node: started, watched, restarted, parked, stopped (docs/contract/node.md#processes). */

export interface DeclaredChild {
  readonly name: string;
  /** Flags of Node, its entry file and the arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Memory limit, MiB; a process above it has a leak, and is restarted before the kernel kills another process. */
  readonly memoryMiB: number;
  /** Who goes first when the machine has no memory left: added to the supervisor's own oom_score_adj. */
  readonly oom?: number;
  /** It has no network, wherever the kernel lets a process give it up. */
  readonly offline?: boolean;
}

/** A process of the plan, from the config. */
export interface ChildSpec extends DeclaredChild {
  /** Whether it should run, by the present config. */
  readonly wanted: boolean;
  /** It is started or stopped together with a restart of that process, or begins anew with other arguments, if the config has changed. */
  readonly follows?: string;
  /** When the node starts, it waits for svc-control, but no longer than a second. With few cores, what answers and what flies are up sooner. */
  readonly later?: boolean;
}

/** Times that tests make shorter. */
export interface WatchLimits {
  readonly pingMs: number;
  readonly hungMs: number;
  readonly memoryMs: number;
  /** From its start to its readiness, on a quiet machine; on a busy one it has longer (start-limit.ts). */
  readonly readyMs: number;
}
export const WATCH_LIMITS: WatchLimits = { pingMs: 2000, hungMs: 15_000, memoryMs: 5000, readyMs: 20_000 };

interface ChildHooks {
  readonly onLine: (line: string) => void;
  readonly onState: (state: ChildState) => void;
  /** Whether it hangs has changed. */
  readonly onHangs: () => void;
  /** svc-link alone: whether its vehicle is armed, on every change. */
  readonly onArmed: (armed: boolean) => void;
}

// Small young generations: these processes keep little, and must fit beside a video encoder on a board of 512 MB.
const NODE_FLAGS = ['--max-semi-space-size=1', '--disable-warning=ExperimentalWarning'];
/**
 * V8's own limit, as a part of the ceiling: near it V8 collects more garbage, and then fails with a stack trace before the
 * ceiling is reached.
 */
const HEAP_SHARE = 0.75;

const LIMITS = {
  firstBackoffMs: 250,
  longestBackoffMs: 10_000,
  failuresToPark: 5,
  failureWindowMs: 60_000,
  parkedRetryMs: 30_000,
  killMs: 10_000,
  restartMs: 20_000,
  /** From the end of a process to the end of its stderr. */
  silenceMs: 1000,
  lastWords: 20,
  /** `oom` of a process that was declared without one. */
  declaredOom: 500,
  lineChars: 64 * 1024,
  /** Samples in a row above the ceiling: a single one may be just before a garbage collection. */
  overCeiling: 3,
  /** Part of `hungMs` without an answer from which on it is told that it hangs. */
  silentPart: 1 / 3,
  /** Part of the ceiling at which a warning is logged. */
  nearCeiling: 0.8,
} as const;

export class SupervisedChild {
  /** For the next start: the config may have changed since the present one. */
  spec: DeclaredChild;
  readonly #init: Init;
  readonly #hooks: ChildHooks;
  readonly #limits: WatchLimits;
  readonly #backoff = new Backoff(LIMITS.firstBackoffMs, LIMITS.longestBackoffMs);
  #state: ChildState = 'stopped';
  #info: JsonObject = {};
  #config: ReportedConfig | null = null;
  /** What the process keeps over its own end; null before it said anything. */
  #kept: {
    readonly armed: boolean;
    /** Those that are armed, or were last. */
    readonly systems: readonly number[];
    readonly at: number;
  } | null = null;
  #process: ChildProcess | null = null;
  #startedAt = 0;
  #hangs = false;
  /** When it was killed because it hangs; null otherwise. */
  #killedAt: number | null = null;
  #restarts = 0;
  #failures: number[] = [];
  #lastExit: string | null = null;
  #lastWords: string[] = [];
  #words: string[] = [];
  #retry: NodeJS.Timeout | null = null;
  #stopping = false;
  /** `restart` has asked it to end. */
  #replacing = false;
  #restart: Promise<Restarted> | null = null;
  readonly #waiting = new Set<() => void>();

  constructor(spec: DeclaredChild, init: Init, hooks: ChildHooks, limits: WatchLimits = WATCH_LIMITS) {
    this.#limits = limits;
    this.spec = spec;
    this.#init = init;
    this.#hooks = hooks;
  }

  get state(): ChildState {
    return this.#state;
  }

  /** The message of the process when it became ready. */
  get info(): JsonObject {
    return this.#info;
  }

  /** The guarded config keys with which it runs; null for a process without a config, and before it is ready. */
  get guarded(): KeyValues | null {
    return this.#config?.guarded ?? null;
  }

  /** It was killed because it hangs, and has still not ended: the kernel cannot end it. */
  get unkillable(): boolean {
    return (
      this.#process !== null &&
      this.#killedAt !== null &&
      performance.now() - this.#killedAt > this.#limits.hungMs
    );
  }

  status(): ChildStatus {
    const running = this.#process !== null;
    return {
      name: this.spec.name,
      state: this.#state,
      hangs: this.#hangs,
      pid: this.#process?.pid ?? null,
      restarts: this.#restarts,
      uptime_seconds: running ? Math.floor((performance.now() - this.#startedAt) / 1000) : null,
      last_exit: this.#lastExit,
      last_words: this.#lastWords,
      restart_required: this.#config?.waiting ?? [],
    };
  }

  /** Nothing if it runs already, or was stopped. */
  start(): void {
    if (this.#stopping || this.#process !== null) return;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    this.#words = [];
    this.#startedAt = performance.now();
    this.#killedAt = null;
    const { args, env, memoryMiB } = this.spec;
    const heap = `--max-old-space-size=${Math.round(memoryMiB * HEAP_SHARE)}`;
    const all = [...NODE_FLAGS, heap, ...args];
    const started =
      this.spec.offline === true ? offline(process.execPath, all) : { program: process.execPath, args: all };
    const child = spawn(started.program, started.args, {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process = child;
    this.#become('starting');
    if (child.pid !== undefined)
      offerToKernel(child.pid, this.spec.oom ?? LIMITS.declaredOom).catch((error: unknown) => {
        // It has ended already, or there is no /proc.
        this.#addLine(`svc-supervisor: ${this.spec.name} keeps its oom_score_adj: ${messageOf(error)}`);
      });
    const splitter = new LineSplitter(LIMITS.lineChars);
    child.stderr?.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk, (line) => this.#addLine(line));
      } catch {
        child.stderr?.resume(); // the line is too long: the rest of this process's output is discarded
      }
    });
    const watchdog = this.#watch(child);
    const scales = this.#weigh(child);
    child.on('error', (error) => this.#addLine(`cannot run: ${error.message}`));
    // 'close' comes after stderr's end, so the last words are complete; a process that could not be spawned has it too. It
    // would never come if a program started by the process keeps stderr open, and then the process would never be restarted.
    let silence: NodeJS.Timeout | null = null;
    child.on('exit', () => {
      silence = setTimeout(() => child.stderr?.destroy(), LIMITS.silenceMs);
    });
    child.on('close', (code, signal) => {
      if (silence !== null) clearTimeout(silence);
      watchdog.stop();
      scales.stop();
      this.#ended(signal ?? `code ${code ?? 'unknown'}`);
    });
    const armedSystems = this.#kept?.systems ?? [];
    this.#send(child, { type: 'init', ...this.#init, wasArmed: this.#wasArmed, armedSystems });
  }

  /** It ended while its vehicle was armed, or within 5 s of that. */
  get #wasArmed(): boolean {
    const kept = this.#kept;
    return kept !== null && (kept.armed || performance.now() - kept.at < ARMED_MS);
  }

  /** Kills it at once. */
  kill(): void {
    this.#stopping = true;
    this.#process?.kill('SIGKILL');
  }

  /** SIGTERM, then SIGKILL after 10 s; resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const child = this.#process;
    if (child === null) {
      this.#become('stopped');
      return;
    }
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), LIMITS.killMs);
    await gone;
    clearTimeout(kill);
  }

  /**
   * Stops the process as `stop` does and starts it again at once. It is not a failure, so there is no back-off and no parking.
   * Resolves when the new process runs. A call during a restart joins that restart.
   * @throws ApiError E_TIMEOUT if no process runs after 20 s (the supervisor keeps trying), E_DRAINING when the node stops
   */
  async restart(): Promise<Restarted> {
    this.#restart ??= this.#replace().finally(() => {
      this.#restart = null;
    });
    return this.#restart;
  }

  async #replace(): Promise<Restarted> {
    if (this.#stopping) throw new ApiError('E_DRAINING');
    const old = this.#process;
    const deadline = performance.now() + LIMITS.restartMs;
    let kill: NodeJS.Timeout | null = null;
    if (old === null) this.start();
    else {
      this.#replacing = true;
      old.kill('SIGTERM');
      kill = setTimeout(() => old.kill('SIGKILL'), LIMITS.killMs);
      old.once('close', () => clearTimeout(kill ?? undefined));
    }
    for (;;) {
      const pid = this.#process?.pid;
      if (this.#stopping) throw new ApiError('E_DRAINING');
      if (this.#state === 'running' && this.#process !== old && pid !== undefined)
        return { pid_before: old?.pid ?? null, pid_after: pid };
      await this.#nextState(deadline);
    }
  }

  async #nextState(deadline: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(wake);
        const last = this.#lastWords.at(-1) ?? 'it left no last words';
        reject(
          new ApiError(
            'E_TIMEOUT',
            `${this.spec.name} does not run ${LIMITS.restartMs / 1000} s after its restart: ${last}`,
          ),
        );
      }, deadline - performance.now());
      this.#waiting.add(wake);
    });
  }

  /** Kills a child that is not ready in time, or that stops answering pings: its loop hangs, so it cannot stop itself. */
  #watch(child: ChildProcess): { stop(): void } {
    let answeredAt = performance.now();
    let ready = false;
    let seq = 0;
    const { readyMs } = this.#limits;
    const startedAt = performance.now();
    let over = false;
    const look = async (): Promise<void> => {
      const allowed = child.pid === undefined ? 0 : startLimit(readyMs, await busyness(child.pid));
      const took = performance.now() - startedAt;
      if (ready || over) return;
      if (took < allowed) late = setTimeout(lookAgain, Math.max(100, allowed - took));
      else this.#hang(child, `not ready within ${Math.round(took)} ms`);
    };
    const lookAgain = (): void => {
      look().catch((error: unknown) => this.#hang(child, `its start cannot be watched: ${String(error)}`));
    };
    let late = setTimeout(lookAgain, readyMs);
    const { pingMs } = this.#limits;
    let lookedAt = performance.now();
    const ping = every(pingMs, `pings of ${this.spec.name}`, () => {
      const now = performance.now();
      // While this process stood still itself, as all do on a machine without memory, it asked no other, and heard none.
      const stood = now - lookedAt - pingMs;
      if (stood > pingMs) answeredAt = Math.min(now, answeredAt + stood);
      lookedAt = now;
      // While it loads it cannot answer, on a slow card for longer than `hungMs`; the start has a limit of its own.
      if (!ready) return;
      const silentMs = now - answeredAt;
      this.#tellHangs(silentMs > this.#limits.hungMs * LIMITS.silentPart);
      if (silentMs > this.#limits.hungMs)
        this.#hang(child, `no answer to pings for ${this.#limits.hungMs} ms`);
      else this.#send(child, { type: 'ping', seq: ++seq });
    });
    child.on('message', (message: FromChild) => {
      answeredAt = performance.now();
      this.#tellHangs(false);
      if (message.type === 'keep') {
        // A first word that it is disarmed says nothing of the time before.
        const since = message.armed || this.#kept?.armed === true ? answeredAt : -Infinity;
        const systems = message.armed ? message.systems : (this.#kept?.systems ?? []);
        this.#kept = { armed: message.armed, systems, at: since };
        this.#hooks.onArmed(message.armed);
      }
      if (message.type !== 'ready') return;
      clearTimeout(late);
      ready = true;
      this.#info = message.info;
      this.#config = message.config;
      this.#become('running');
    });
    return {
      stop() {
        over = true;
        clearTimeout(late);
        clearInterval(ping);
      },
    };
  }

  /** Samples its memory; a process that stays above its ceiling is stopped, which counts as a failure. */
  #weigh(child: ChildProcess): { stop(): void } {
    const { memoryMiB } = this.spec;
    let over = 0;
    let warned = false;
    let kill: NodeJS.Timeout | null = null;
    const sample = async (): Promise<void> => {
      const mib = Math.round((child.pid === undefined ? null : await memoryOf(child.pid)) ?? 0);
      if (this.#process !== child || kill !== null) return;
      if (!warned && mib > memoryMiB * LIMITS.nearCeiling) {
        warned = true;
        this.#addLine(`svc-supervisor: ${this.spec.name} takes ${mib} MiB; its ceiling is ${memoryMiB} MiB`);
      }
      over = mib > memoryMiB ? over + 1 : 0;
      if (over < LIMITS.overCeiling) return;
      this.#addLine(`svc-supervisor: killed: ${mib} MiB above its ceiling of ${memoryMiB} MiB`);
      child.kill('SIGTERM');
      kill = setTimeout(() => child.kill('SIGKILL'), LIMITS.killMs);
    };
    const timer = every(this.#limits.memoryMs, `memory of ${this.spec.name}`, sample);
    return {
      stop() {
        clearInterval(timer);
        if (kill !== null) clearTimeout(kill);
      },
    };
  }

  #tellHangs(hangs: boolean): void {
    if (hangs === this.#hangs) return;
    this.#hangs = hangs;
    this.#hooks.onHangs();
  }

  #hang(child: ChildProcess, why: string): void {
    if (this.#killedAt === null) this.#addLine(`svc-supervisor: killing ${this.spec.name}: ${why}`);
    this.#killedAt ??= performance.now();
    child.kill('SIGKILL');
  }

  #send(child: ChildProcess, message: ToChild): void {
    if (!child.connected) return;
    child.send(message, (error) => {
      if (error !== null) this.#addLine(`svc-supervisor: cannot reach ${this.spec.name}: ${error.message}`);
    });
  }

  #addLine(line: string): void {
    const safe = maskText(line);
    this.#words.push(safe);
    if (this.#words.length > LIMITS.lastWords) this.#words.shift();
    this.#hooks.onLine(safe);
  }

  #ended(exit: string): void {
    this.#process = null;
    this.#hangs = false;
    this.#lastExit = exit;
    this.#lastWords = lastWords(this.#words);
    if (this.#stopping) {
      this.#become('stopped');
      return;
    }
    if (this.#replacing) {
      this.#replacing = false;
      this.#restarts++;
      this.start();
      return;
    }
    const now = performance.now();
    // A process that ran for a while did not fail to start, so the back-off is reset.
    if (now - this.#startedAt > LIMITS.failureWindowMs) this.#backoff.reset();
    this.#failures = this.#failures.filter((at) => now - at < LIMITS.failureWindowMs);
    this.#failures.push(now);
    this.#restarts++;
    const parked = this.#failures.length >= LIMITS.failuresToPark;
    this.#become(parked ? 'parked' : 'waiting');
    this.#retry = setTimeout(() => this.start(), parked ? LIMITS.parkedRetryMs : this.#backoff.next());
  }

  #become(state: ChildState): void {
    this.#state = state;
    this.#hooks.onState(state);
    for (const wake of this.#waiting) wake();
  }
}
