import { extname, join } from 'node:path';
import { deferred } from '../../shared/async/deferred.ts';
import { OwnThread } from '../../shared/async/own-thread.ts';
import { Retry } from '../../shared/async/retry.ts';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import {
  type EventQueueOptions,
  type FleetQueue,
  ignore,
  type NewEvent,
  type QueueState,
  type Stored,
} from './event-queue.ts';
import type { FleetLog } from './fleet-log.ts';

const FILE = join(import.meta.dirname, `disk-queue-thread${extname(import.meta.filename)}`);
const HEAP = { oldMb: 32, youngMb: 1 };
/** How long a start waits for what the process before has left. */
const OPEN_MS = 5000;
/** Of events that wait for the disk, in characters; more are dropped, and counted. */
const MOST_WAITING = 1024 * 1024;

export type QueueThreadData = Pick<EventQueueOptions, 'path' | 'owner' | 'maxBytes'>;

export type ToQueue =
  | {
      readonly kind: 'append';
      readonly id: number;
      readonly events: readonly NewEvent[];
      readonly facts: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'acknowledge'; readonly stream: string; readonly seq: number }
  | { readonly kind: 'renew' | 'stop' };

export type FromQueue =
  | { readonly kind: 'opened'; readonly state: QueueState; readonly facts: Readonly<Record<string, string>> }
  | { readonly kind: 'changed'; readonly state: QueueState }
  | {
      readonly kind: 'appended';
      readonly id: number;
      readonly seq: number | null;
      readonly state: QueueState;
    }
  | { readonly kind: 'log'; readonly level: keyof FleetLog; readonly text: string };

interface PendingBatch {
  readonly events: number;
  readonly chars: number;
  readonly stored: Stored;
}

interface DiskQueueOptions extends QueueThreadData {
  readonly log: FleetLog;
  /** There may be another event to send. */
  readonly onChange: () => void;
}

const NOTHING: QueueState = {
  stream: '',
  behind: 0,
  dropped: { events: 0, telemetry: 0 },
  acknowledgedAt: null,
  lastSeq: 0,
  oldest: null,
  next: null,
};

/**
 * The queue of events (event-queue.ts) in a thread of its own, and what this loop knows of it. While the disk stands still nothing of
 * the queue is sent, and new events wait in memory, up to a limit.
 */
export class DiskQueue implements FleetQueue {
  readonly #options: DiskQueueOptions;
  readonly #opened = deferred();
  readonly #waiting = new Map<number, PendingBatch>();
  readonly #retry = new Retry(() => this.#begin(), { firstMs: 1000, capMs: 30_000 });
  #thread: OwnThread<ToQueue, FromQueue> | null = null;
  #state = NOTHING;
  #facts: Readonly<Record<string, string>> = {};
  #chars = 0;
  #last = 0;
  /** In this process, without a place on the disk. */
  #lost = 0;

  constructor(options: DiskQueueOptions) {
    this.#options = options;
  }

  /** Resolves when the queue is known; on a disk that stands still without that. */
  async start(): Promise<void> {
    this.#retry.start();
    await within(this.#opened.promise, OPEN_MS, () => new Error(`not open after ${OPEN_MS} ms`)).catch(
      (error: unknown) => this.#options.log.warn(`the queue of events: ${messageOf(error)}`),
    );
  }

  async close(): Promise<void> {
    this.#retry.stop();
    await this.#thread?.stop({ kind: 'stop' });
    this.#thread = null;
    this.#forget();
  }

  get stream(): string {
    return this.#state.stream;
  }

  get behind(): number {
    return this.#state.behind + [...this.#waiting.values()].reduce((sum, { events }) => sum + events, 0);
  }

  get dropped(): QueueState['dropped'] {
    const { events, telemetry } = this.#state.dropped;
    return { events: events + this.#lost, telemetry };
  }

  get acknowledgedAt(): number | null {
    return this.#state.acknowledgedAt;
  }

  get lastSeq(): number {
    return this.#state.lastSeq;
  }

  get oldestAt(): number | null {
    return this.#state.oldest?.at ?? null;
  }

  holds(seq: number): boolean {
    const { oldest } = this.#state;
    return oldest !== null && oldest.seq <= seq;
  }

  next(seq: number): FleetEvent | null {
    const { next } = this.#state;
    return next !== null && next.seq > seq ? next : null;
  }

  fact(name: string): string | null {
    return this.#facts[name] ?? null;
  }

  append(
    events: readonly NewEvent[],
    facts: Readonly<Record<string, string>> = {},
    stored: Stored = ignore,
  ): void {
    this.#facts = { ...this.#facts, ...facts };
    const chars = JSON.stringify([events, facts]).length;
    if (this.#thread === null || this.#chars + chars > MOST_WAITING) {
      this.#lost += events.length;
      stored(null);
      return;
    }
    const id = ++this.#last;
    this.#waiting.set(id, { events: events.length, chars, stored });
    this.#chars += chars;
    this.#thread.post({ kind: 'append', id, events, facts });
  }

  acknowledge(stream: string, seq: number): void {
    this.#thread?.post({ kind: 'acknowledge', stream, seq });
  }

  renewStream(): void {
    this.#state = { ...this.#state, stream: '', next: null }; // sent in the new one
    this.#thread?.post({ kind: 'renew' });
  }

  #begin(): void {
    const { path, owner, maxBytes } = this.#options;
    const data: QueueThreadData = { path, owner, maxBytes };
    this.#thread = new OwnThread({
      file: FILE,
      data,
      heap: HEAP,
      onMessage: (message) => this.#onMessage(message),
      onEnd: (problem) => {
        this.#options.log.error(`the queue of events: ${problem}; it is opened again`);
        this.#thread = null;
        this.#forget();
        this.#retry.again();
      },
    });
  }

  #onMessage(message: FromQueue): void {
    if (message.kind === 'log') {
      this.#options.log[message.level](message.text);
      return;
    }
    this.#state = message.state;
    if (message.kind === 'opened') {
      this.#facts = { ...message.facts, ...this.#facts };
      this.#retry.worked();
      this.#opened.resolve();
    } else if (message.kind === 'appended') this.#take(message.id)?.stored(message.seq);
    this.#options.onChange();
  }

  #take(id: number): PendingBatch | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#chars -= waiting?.chars ?? 0;
    return waiting;
  }

  /** What the thread has not answered, it may not have stored. */
  #forget(): void {
    for (const id of this.#waiting.keys()) {
      const waiting = this.#take(id);
      this.#lost += waiting?.events ?? 0;
      waiting?.stored(null);
    }
  }
}
