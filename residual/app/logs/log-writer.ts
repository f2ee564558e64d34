import { extname, join } from 'node:path';
import { deferred } from '../../../shared/async/deferred.ts';
import { OwnThread } from '../../../shared/async/own-thread.ts';
import { within } from '../../../shared/async/within.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import type { LogRecord } from '../../../shared/rpc/logs.ts';
import type { LinkConnection } from '../link-connection.ts';
import type { FlightFiles } from './flight-files.ts';
import { storeHeld } from './log-reader.ts';
import { type StoreLimits, sizeOf } from './retention.ts';
import type { Telling } from './telling.ts';

const FILE = join(import.meta.dirname, `log-writer-thread${extname(import.meta.filename)}`);
const HEAP = { oldMb: 96, youngMb: 2 };
/** How long a question waits for what is not stored yet; without it the answer is what is stored. */
const FLUSH_MS = 1000;
/** How long a reader waits for the place from which it follows. */
const FOLLOW_MS = 5000;
/** How long a disk may take to open the store; later is tried again. */
const OPEN_MS = 30_000;
const MB = 1024 * 1024;

/** What the thread is made of. */
export interface WriterData {
  /** Of the database. */
  readonly path: string;
  /** Where log lines come in. */
  readonly socket: string;
  readonly limits: StoreLimits;
  readonly bootId: string;
  readonly profile: string;
}

export type ToWriter =
  | { readonly kind: 'state'; readonly state: LinkState; readonly recording: readonly string[] }
  | { readonly kind: 'flush' | 'follow'; readonly id: number }
  | { readonly kind: 'unfollow' | 'stop' };

export type FromWriter =
  | { readonly kind: 'opened' | 'heard' }
  | { readonly kind: 'flushed'; readonly id: number; readonly accepted: number }
  | { readonly kind: 'following'; readonly id: number; readonly newest: number }
  | { readonly kind: 'stored'; readonly records: readonly LogRecord[] }
  | { readonly kind: 'log'; readonly level: keyof Telling; readonly text: string };

interface LogWriterOptions extends WriterData {
  readonly link: Pick<LinkConnection, 'follow'>;
  readonly recording: FlightFiles['recording'];
  /** Whether anybody reads new records. */
  readonly followed: () => boolean;
  /** Called with the committed records, oldest first, while anybody reads. */
  readonly onStored: (records: readonly LogRecord[]) => void;
  /** Called once if it ends by itself. */
  readonly onEnd: (problem: string) => void;
  readonly log: Telling;
}

/**
 * Writes the log store, in a thread of its own: SQLite holds its thread for as long as the disk takes. Of the states of the link
 * the newest waits while the thread is busy; log lines wait with their shipper.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #asked = new Map<number, (answer: number) => void>();
  #following = 0;
  #thread: OwnThread<ToWriter, FromWriter> | null = null;
  #unfollowLink: (() => void) | null = null;
  #last = 0;
  #accepted = 0;
  #busy = false;
  #next: LinkState | null = null;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** @throws Error if the store cannot be opened */
  async start(): Promise<void> {
    const { path, socket, limits, bootId, profile, link } = this.#options;
    const opened = deferred();
    const data: WriterData = { path, socket, limits, bootId, profile };
    const thread = new OwnThread<ToWriter, FromWriter>({
      file: FILE,
      data,
      heap: HEAP,
      onMessage: (message) => {
        if (message.kind === 'opened') opened.resolve();
        else this.#onMessage(message);
      },
      onEnd: (problem) => {
        opened.reject(new Error(problem));
        if (this.#thread === thread) this.#ended(problem);
      },
    });
    try {
      await within(opened.promise, OPEN_MS, () => new Error(`the disk has not answered for ${OPEN_MS} ms`));
    } catch (error) {
      void thread.end();
      throw error;
    }
    this.#thread = thread;
    this.#unfollowLink = link.follow({ state: (state) => this.#onState(state) });
  }

  /** Stores what waits for its batch. @returns how many log records came since the start; after a second, of what is stored */
  async flush(): Promise<number> {
    const accepted = await this.#ask('flush', FLUSH_MS);
    this.#accepted = accepted ?? this.#accepted;
    return this.#accepted;
  }

  /**
   * From the answer on, new records are told. @returns the number of the newest record before them
   * @throws ApiError E_STORE if the store cannot say in time
   */
  async follow(): Promise<number> {
    this.#following++;
    try {
      const newest = await this.#ask('follow', FOLLOW_MS);
      if (newest === null) throw storeHeld();
      return newest;
    } finally {
      this.#following--;
    }
  }

  sizes() {
    const { path, limits } = this.#options;
    return {
      db_size_bytes: sizeOf(path),
      wal_size_bytes: sizeOf(`${path}-wal`),
      limits: { max_mb: limits.maxBytes / MB, max_age_days: limits.maxAgeDays },
    };
  }

  async stop(): Promise<void> {
    this.#unfollowLink?.();
    const thread = this.#thread;
    this.#thread = null;
    await thread?.stop({ kind: 'stop' });
  }

  /** Null: no answer in time. */
  async #ask(kind: 'flush' | 'follow', ms: number): Promise<number | null> {
    const thread = this.#thread;
    if (thread === null) return null;
    const id = ++this.#last;
    const { promise, resolve } = deferred<number | null>();
    this.#asked.set(id, resolve);
    const late = setTimeout(() => resolve(null), ms);
    thread.post({ kind, id });
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      this.#asked.delete(id);
    }
  }

  #onState(state: LinkState): void {
    this.#next = state;
    if (!this.#busy) this.#pass();
  }

  #pass(): void {
    const state = this.#next;
    const thread = this.#thread;
    this.#next = null;
    if (state === null || thread === null) return;
    this.#busy = true;
    thread.post({ kind: 'state', state, recording: [...this.#options.recording()] });
  }

  #onMessage(message: FromWriter): void {
    const { log, followed, onStored } = this.#options;
    switch (message.kind) {
      case 'opened':
        break;
      case 'heard':
        this.#busy = false;
        this.#pass();
        break;
      case 'flushed':
        this.#asked.get(message.id)?.(message.accepted);
        break;
      case 'following':
        this.#asked.get(message.id)?.(message.newest);
        break;
      case 'stored':
        onStored(message.records);
        if (!followed() && this.#following === 0) this.#thread?.post({ kind: 'unfollow' });
        break;
      case 'log':
        log[message.level](message.text);
        break;
    }
  }

  #ended(problem: string): void {
    this.#unfollowLink?.();
    this.#thread = null;
    this.#options.onEnd(problem);
  }
}
