import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { OutputLines } from './lines.ts';
import { treeMemory } from './process-tree.ts';
import type { Ended, OnLine, RunningExtension } from './types.ts';

const LIMITS = {
  /** From SIGTERM to SIGKILL. */
  graceMs: 5000,
  /** How often the memory of all of its processes is added up. */
  weighMs: 1000,
  /** From the end of its first process to the end of its output, which another process may hold open. */
  silenceMs: 1000,
} as const;

/** What a runtime writes when it could get no more memory. */
export const OUT_OF_MEMORY =
  /heap out of memory|process out of memory|Array buffer allocation failed|Failed to allocate memory|std::bad_alloc|MemoryError|Cannot allocate memory/;
/** Shells and bubblewrap tell of a signal by this exit code and more. */
const EXIT_OF_SIGNAL = 128;

interface RunningOptions {
  readonly child: ChildProcess;
  readonly onLine: OnLine;
  /** For all of its processes together. */
  readonly maxMemoryMiB: number;
  /** Asks its first process to end. @returns false if it cannot be asked */
  readonly terminate: () => Promise<boolean>;
  /** Ends all of its processes at once. Also called when the first has ended. */
  readonly killAll: () => void;
}

/** An extension whose processes are descendants of this one. */
export class RunningChild implements RunningExtension {
  pid: number | null;
  readonly ended: Promise<Ended>;
  /** The last line of its stderr. */
  lastWords = '';
  readonly #options: RunningOptions;
  #hasEnded = false;
  #outOfMemory = false;
  #weighing = false;

  constructor(options: RunningOptions) {
    this.#options = options;
    const { child, onLine } = options;
    this.pid = child.pid ?? null;
    const lines = new OutputLines(
      (stream, line) => {
        if (stream === 'stderr') this.#heard(line);
        onLine(stream, line);
      },
      () => performance.now(),
    );
    if (child.stdout !== null) void lines.follow('stdout', child.stdout);
    if (child.stderr !== null) void lines.follow('stderr', child.stderr);
    const scales = setInterval(() => void this.#weigh(), LIMITS.weighMs);
    scales.unref();
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => {
        this.lastWords = error.message; // it could not be spawned; 'close' follows
      });
      child.on('exit', () => {
        options.killAll();
        setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, LIMITS.silenceMs).unref();
      });
      child.on('close', (code, signal) => {
        clearInterval(scales);
        this.#hasEnded = true;
        resolve({ exit: this.#exitOf(code, signal) });
      });
    });
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    const kill = setTimeout(() => this.#options.killAll(), LIMITS.graceMs);
    if (!(await this.#options.terminate())) this.#options.killAll();
    await this.ended;
    clearTimeout(kill);
  }

  #heard(line: string): void {
    this.lastWords = line;
    if (OUT_OF_MEMORY.test(line)) this.#outOfMemory = true;
  }

  /** The limits of a single process do not add up; this is the one for all of them. */
  async #weigh(): Promise<void> {
    const { child, maxMemoryMiB, killAll } = this.#options;
    if (this.#weighing || child.pid === undefined) return;
    this.#weighing = true;
    const mib = await treeMemory(child.pid);
    this.#weighing = false;
    if (mib <= maxMemoryMiB || this.#hasEnded) return;
    this.#outOfMemory = true;
    killAll();
  }

  #exitOf(code: number | null, signal: NodeJS.Signals | null): string {
    if (code === 0) return 'code 0';
    if (this.#outOfMemory) return 'out of memory';
    if (signal !== null) return signal;
    return signalName((code ?? 0) - EXIT_OF_SIGNAL) ?? `code ${code ?? 'unknown'}`;
  }
}

export function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}
