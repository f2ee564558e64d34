import { extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../../../shared/async/deferred.ts';
import { OwnThread } from '../../../shared/async/own-thread.ts';
import { within } from '../../../shared/async/within.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { LogFilter } from './log-filter.ts';
import type { Answer, FromReader, LogReaderWork, Question } from './log-reader-work.ts';

const FILE = join(import.meta.dirname, `log-reader-thread${extname(import.meta.filename)}`);
/** Without an answer for so long the thread has nothing to do, or is stuck; in both cases it ends, and the next question gets a new one. */
const QUIET_MS = 30_000;
/** How long the thread may take until it has opened the store. */
const OPEN_MS = 3000;
const MAX_WAITING = 64;
/** Between two parts of an export the processors are left to others: it goes through three processes. */
const PAUSE_MS = 10;
/** A query that needs more memory ends its thread, not this process. */
const HEAP = { oldMb: 128, youngMb: 8 };

type Name = keyof LogReaderWork;

interface PendingQuery {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queries of the log store in a thread of their own: SQLite holds its thread for as long as a query takes. The thread is there
 * while somebody asks; an idle node does without its memory.
 */
export class LogReader {
  readonly #path: string;
  readonly #waiting = new Map<number, PendingQuery>();
  readonly #open = new Set<number>();
  #thread: OwnThread<Question, FromReader> | null = null;
  #opened = deferred();
  #timer: NodeJS.Timeout | null = null;
  #last = 0;

  /** @param path of a database that exists */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * A query of LogQuery. @throws ApiError its own; E_RATE_LIMITED if 64 wait already; E_STORE if the store cannot be read or its disk
   * does not answer, or the thread ended before it answered
   */
  async ask<K extends Name>(
    name: K,
    ...args: Parameters<LogReaderWork[K]>
  ): Promise<ReturnType<LogReaderWork[K]>> {
    const thread = await this.#begun();
    if (this.#waiting.size >= MAX_WAITING)
      throw new ApiError('E_RATE_LIMITED', `At most ${MAX_WAITING} queries of the log wait at a time.`);
    const id = ++this.#last;
    const { promise, resolve, reject } = deferred<ReturnType<LogReaderWork[K]>>();
    if (this.#waiting.size === 0) this.#timer?.refresh();
    this.#waiting.set(id, { resolve, reject });
    thread.post({ id, name, args });
    return promise;
  }

  /** Before `lines`, whose errors come too late for an answer of their own. @throws ApiError E_STORE if its disk does not answer */
  async ready(): Promise<void> {
    await this.#begun();
  }

  /** Every record, newest first, as lines of JSON, some hundred at a time. @throws ApiError as `ask` */
  async *lines(filter: LogFilter, limit: number): AsyncGenerator<string> {
    const id = ++this.#last;
    this.#open.add(id);
    let thread: unknown = null;
    try {
      await this.ask('open', id, filter, limit);
      thread = this.#thread;
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
      if (thread !== null && this.#thread === thread) await this.ask('close', id);
    }
  }

  async stop(): Promise<void> {
    await this.#end(gone());
  }

  async #begun(): Promise<OwnThread<Question, FromReader>> {
    const thread = (this.#thread ??= this.#begin());
    await within(this.#opened.promise, OPEN_MS, storeHeld);
    if (this.#thread !== thread) throw gone();
    return thread;
  }

  #begin(): OwnThread<Question, FromReader> {
    this.#opened = deferred();
    this.#opened.promise.catch(() => undefined); // whoever asks hears it
    this.#timer = setTimeout(() => this.#onQuiet(), QUIET_MS).unref();
    return new OwnThread({
      file: FILE,
      data: { path: this.#path },
      heap: HEAP,
      onMessage: (answer) => {
        if (answer === 'opened') this.#opened.resolve();
        else this.#onAnswer(answer);
      },
      onEnd: (problem) =>
        void this.#end(new ApiError('E_STORE', `The log store cannot be read: ${problem}.`)),
    });
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
    this.#opened.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    await thread?.end();
  }
}

function gone(): ApiError {
  return new ApiError('E_STORE', 'The log store is closing.');
}

/** The disk of the store holds whoever reads or writes it. */
export function storeHeld(): ApiError {
  return new ApiError(
    'E_STORE',
    'The log store does not answer: its disk stands still, or this machine has no time for it.',
  );
}
