import { extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { LogFilter } from './log-filter.ts';
import type { Answer, LogReaderWork, Question } from './log-reader-work.ts';

const THREAD = join(import.meta.dirname, `log-reader-thread${extname(import.meta.filename)}`);
/** Without an answer for so long the thread has nothing to do, or is stuck; in both cases it ends, and the next question gets a new one. */
const QUIET_MS = 30_000;
const MAX_WAITING = 64;
/** Between two parts of an export the processors are left to others: it goes through three processes. */
const PAUSE_MS = 10;
/** A query that needs more memory ends its thread, not this process. */
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

type Name = keyof LogReaderWork;

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queries of the log store in a thread of their own: SQLite holds its thread for as long as a query takes. The thread is there
 * while somebody asks; an idle node does without its memory.
 */
export class LogReader {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #open = new Set<number>();
  #thread: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #last = 0;

  /** @param path of a database that exists */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * A query of LogQuery. @throws ApiError its own; E_RATE_LIMITED if 64 wait already; E_STORE if the store cannot be read, or the
   * thread ended before it answered
   */
  async ask<K extends Name>(
    name: K,
    ...args: Parameters<LogReaderWork[K]>
  ): Promise<ReturnType<LogReaderWork[K]>> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new ApiError('E_RATE_LIMITED', `At most ${MAX_WAITING} queries of the log wait at a time.`);
    const thread = (this.#thread ??= this.#begin());
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<LogReaderWork[K]>>();
    if (this.#waiting.size === 0) this.#timer?.refresh();
    this.#waiting.set(id, { resolve, reject });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    thread.postMessage({ id, name, args } satisfies Question);
    return promise;
  }

  /** Every record, newest first, as lines of JSON, some hundred at a time. @throws ApiError as `ask` */
  async *lines(filter: LogFilter, limit: number): AsyncGenerator<string> {
    const id = ++this.#last;
    this.#open.add(id);
    try {
      await this.ask('open', id, filter, limit);
      const thread = this.#thread;
      for (let part = ''; ; ) {
        // Another thread does not know it, and its records would seem to end here.
        if (this.#thread !== thread) throw gone();
        part = await this.ask('next', id);
        if (part === '') return;
        yield part;
        await delay(PAUSE_MS);
      }
    } finally {
      this.#open.delete(id);
      if (this.#thread !== null) await this.ask('close', id);
    }
  }

  async stop(): Promise<void> {
    await this.#end(gone());
  }

  #begin(): Worker {
    const thread = new Worker(THREAD, { workerData: { path: this.#path }, resourceLimits: HEAP });
    thread.unref();
    thread.on('message', (answer: Answer) => this.#onAnswer(answer));
    thread.on('error', (error) => {
      if (this.#thread === thread)
        void this.#end(new ApiError('E_STORE', `The log store cannot be read: ${messageOf(error)}.`));
    });
    this.#timer = setTimeout(() => this.#onQuiet(), QUIET_MS).unref();
    return thread;
  }

  #onAnswer({ id, result, failure }: Answer): void {
    this.#timer?.refresh();
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure === undefined) waiting?.resolve(result as never);
    else if (failure.code === null) waiting?.reject(new Error(failure.detail));
    else waiting?.reject(new ApiError(failure.code, failure.detail, failure.extras));
  }

  #onQuiet(): void {
    // An export waits for its reader.
    if (this.#waiting.size === 0 && this.#open.size > 0) this.#timer?.refresh();
    else void this.#end(new ApiError('E_TIMEOUT', 'The log store did not answer in time.'));
  }

  async #end(error: Error): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    await thread?.terminate();
  }
}

function gone(): ApiError {
  return new ApiError('E_STORE', 'The log store is closing.');
}
