import { readFile } from 'node:fs/promises';
import { runProgram } from '../../shared/process/run-program.ts';
import { ModelError } from './heads.ts';

/** What this process needs besides the model from now on, MiB. */
const OWN_MIB = 64;
const MIB = 1024 * 1024;
const PRLIMIT_MS = 5000;

/** The bound on the memory that a model may take. */
export class MemoryGuard {
  readonly #mostMib: number;
  readonly #before = process.memoryUsage.rss();
  /** Why the kernel does not hold the bound, as a sentence; null: it does. */
  readonly problem: string | null;

  private constructor(mostMib: number, problem: string | null) {
    this.#mostMib = mostMib;
    this.problem = problem;
  }

  /**
   * Call it before the model is loaded. RLIMIT_DATA counts private writable memory, so what V8 has reserved is not in it; an
   * allocation that goes beyond fails, which onnxruntime tells as an error. Node has no setrlimit, so it is util-linux's prlimit.
   * Without it there is only `check`, which comes after the fact.
   * @param mostMib what the model may take
   */
  static async set(mostMib: number): Promise<MemoryGuard> {
    const data = /^VmData:\s+(\d+) kB/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
    const bytes = Number(data ?? Number.NaN) * 1024 + (mostMib + OWN_MIB) * MIB;
    const problem = await runProgram(
      'prlimit',
      ['--pid', String(process.pid), `--data=${bytes}:${bytes}`],
      PRLIMIT_MS,
    ).then(
      () => null,
      (error: Error) => error.message,
    );
    return new MemoryGuard(mostMib, problem);
  }

  /** @throws ModelError when the model has taken more than it may */
  check(): void {
    const taken = Math.round((process.memoryUsage.rss() - this.#before) / MIB);
    if (taken > this.#mostMib + OWN_MIB)
      throw new ModelError(`The model takes ${taken} MB of memory; ${this.#mostMib} MB are allowed.`);
  }
}
