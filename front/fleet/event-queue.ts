import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../shared/errors.ts';
import { isDamage, setAside } from '../../shared/files/damaged-database.ts';
import { ownDatabase } from '../../shared/files/own-database.ts';
import { inTransaction } from '../../shared/files/transaction.ts';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import { parseJson, recordOf } from '../../shared/member.ts';
import type { FleetLog } from './fleet-log.ts';

/** The kind of telemetry that was kept while there was no connection: the first to go when the queue is full. */
export const TELEMETRY_KIND = 'telemetry';

const BUSY_MS = 250;
const PAGE_BYTES = 4096;
/** What SQLite writes beside the file before it puts that into it. */
const WAL_PAGES = 32;
/** How many are dropped at once when the queue is full. */
const BATCH = 64;
/** A queue in memory, while the disk takes none. */
const MEMORY_BYTES = 1024 * 1024;
/** An event with a longer detail is not taken: every sender here has bounds far below. */
const MAX_DETAIL_CHARS = 64 * 1024;

const SCHEMA = `
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX kept_telemetry ON events (seq) WHERE kind = '${TELEMETRY_KIND}';
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
`;

export type NewEvent = Pick<FleetEvent, 'at' | 'kind' | 'detail'>;

export interface EventQueueOptions {
  /** `:memory:` for none on disk. */
  readonly path: string;
  /** Whose events these are; a queue of another owner is emptied, and begins a new stream. */
  readonly owner: string;
  /** The most that it may take on the disk. */
  readonly maxBytes: number;
  readonly log: FleetLog;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** Called with the number of the last event that was appended; null: it was not taken. */
export type Stored = (seq: number | null) => void;

/** What is in the queue, for whoever cannot ask it. */
export interface QueueState {
  readonly stream: string;
  readonly behind: number;
  readonly dropped: { readonly events: number; readonly telemetry: number };
  /** ms since 1970; null: never. */
  readonly acknowledgedAt: number | null;
  readonly lastSeq: number;
  /** Null: it is empty. */
  readonly oldest: { readonly seq: number; readonly at: number } | null;
  /** The oldest that is not acknowledged; null: there is none. */
  readonly next: FleetEvent | null;
}

/** The queue, as it is used: it, or one in a thread (disk-queue.ts). */
export interface FleetQueue extends Omit<QueueState, 'oldest' | 'next'> {
  /** ms since 1970; null: the queue is empty. */
  readonly oldestAt: number | null;
  /** The oldest event after `seq`; null: there is none. */
  next(seq: number): FleetEvent | null;
  /** Whether the event of this number is still in it. */
  holds(seq: number): boolean;
  /** Puts events at the end, and facts with them: both or none. */
  append(events: readonly NewEvent[], facts?: Readonly<Record<string, string>>, stored?: Stored): void;
  /** The hub has stored all of this stream up to `seq`. */
  acknowledge(stream: string, seq: number): void;
  /** What is in the queue, and what comes, belongs to another stream from now on. */
  renewStream(): void;
  /** What was noted under this name by `append`, by this process or one before. */
  fact(name: string): string | null;
  close(): void | Promise<void>;
}

/**
 * Events that the hub has not acknowledged, in a database on disk. Every call is synchronous, as short as the disk lets it be, and none
 * throws: with a full or broken disk the node goes on, and events are dropped and counted.
 */
export class EventQueue implements FleetQueue {
  readonly #options: EventQueueOptions;
  #db: DatabaseSync;
  #maxPages: number;
  #stream = '';
  #behind = 0;
  /** In this process, without a place on the disk: told, until the disk takes them. */
  #lost = 0;
  #problem = '';
  #replaced = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
    this.#maxPages = pagesOf(options.maxBytes);
    this.#db = this.#open();
    this.#begin();
  }

  /** Made with the queue. */
  get stream(): string {
    return this.#stream;
  }

  get behind(): number {
    return this.#behind;
  }

  get dropped(): { readonly events: number; readonly telemetry: number } {
    return {
      events: Number(this.fact('events_dropped') ?? 0) + this.#lost,
      telemetry: Number(this.fact('telemetry_dropped') ?? 0),
    };
  }

  next(seq: number): FleetEvent | null {
    return this.#try('read', () => {
      const row = this.#db
        .prepare('SELECT seq, at, kind, detail FROM events WHERE seq > ? ORDER BY seq LIMIT 1')
        .get(seq);
      if (row === undefined) return null;
      return {
        stream: this.#stream,
        seq: Number(row['seq']),
        at: Number(row['at']),
        kind: String(row['kind']),
        detail: recordOf(parseJson(String(row['detail']))),
      };
    });
  }

  get oldestAt(): number | null {
    return this.next(0)?.at ?? null;
  }

  holds(seq: number): boolean {
    return this.next(seq - 1)?.seq === seq;
  }

  /** @param acknowledged also if the disk did not take the deletion */
  state(acknowledged: number): QueueState {
    const { stream, behind, dropped, acknowledgedAt, lastSeq } = this;
    const oldest = this.next(0);
    return {
      stream,
      behind,
      dropped,
      acknowledgedAt,
      lastSeq,
      oldest: oldest === null ? null : { seq: oldest.seq, at: oldest.at },
      next: this.next(acknowledged),
    };
  }

  append(
    events: readonly NewEvent[],
    facts: Readonly<Record<string, string>> = {},
    stored: Stored = ignore,
  ): void {
    const texts = events
      .map(({ at, kind, detail }) => ({ at: Math.round(at), kind, detail: JSON.stringify(detail) }))
      .filter(({ detail }) => detail.length <= MAX_DETAIL_CHARS);
    const added = this.#try('write', () => {
      let dropped = 0;
      inTransaction(this.#db, () => {
        dropped = this.#makeRoom();
        const insert = this.#db.prepare('INSERT INTO events (at, kind, detail) VALUES (?, ?, ?)');
        for (const { at, kind, detail } of texts) insert.run(at, kind, detail);
        for (const [name, value] of Object.entries(facts)) this.#note(name, value);
      });
      return texts.length - dropped;
    });
    if (added === null) this.#lost += events.length;
    else this.#behind += added;
    stored(added === null || texts.length === 0 ? null : this.lastSeq);
  }

  /** @returns whether that took anything out of the queue */
  acknowledge(stream: string, seq: number): boolean {
    if (stream !== this.#stream) return false;
    const taken = this.#try('delete', () => {
      let changes = 0;
      inTransaction(this.#db, () => {
        changes = Number(this.#db.prepare('DELETE FROM events WHERE seq <= ?').run(seq).changes);
        this.#note('acknowledged_at', String(this.#options.now()));
      });
      return changes;
    });
    this.#behind -= taken ?? 0;
    return (taken ?? 0) > 0;
  }

  /** The newest number that was given, also to an event that is gone. */
  get lastSeq(): number {
    const row = this.#try('read', () => this.#db.prepare('SELECT seq FROM sqlite_sequence').get());
    return Number(row?.['seq'] ?? 0);
  }

  renewStream(): void {
    this.#stream = newStream();
    this.#try('write', () => this.#note('stream', this.#stream));
  }

  /** ms since 1970; null: never. */
  get acknowledgedAt(): number | null {
    const at = this.fact('acknowledged_at');
    return at === null ? null : Number(at);
  }

  /** All that was noted. */
  facts(): Readonly<Record<string, string>> {
    const rows = this.#try('read', () => this.#db.prepare('SELECT name, value FROM facts').all()) ?? [];
    return Object.fromEntries(rows.map(({ name, value }) => [String(name), String(value)]));
  }

  fact(name: string): string | null {
    const row = this.#try('read', () => this.#db.prepare('SELECT value FROM facts WHERE name = ?').get(name));
    return row === undefined || row === null ? null : String(row['value']);
  }

  close(): void {
    this.#try('close', () => this.#db.close());
  }

  #note(name: string, value: string): void {
    this.#db
      .prepare(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      )
      .run(name, value);
  }

  #count(): void {
    this.#behind = Number(this.#db.prepare('SELECT count(*) AS n FROM events').get()?.['n'] ?? 0);
  }

  #open(): DatabaseSync {
    const { path, log, now } = this.#options;
    try {
      return openFile(path);
    } catch (error) {
      if (isDamage(error)) {
        try {
          log.error(`the queue of events: ${messageOf(error)}; set aside as ${setAside(path, now())}`);
          return openFile(path);
        } catch (second) {
          return this.#inMemory(second);
        }
      }
      return this.#inMemory(error);
    }
  }

  #inMemory(error: unknown): DatabaseSync {
    this.#options.log.error(
      `the queue of events is in memory until the next start, and does not outlive it: ${messageOf(error)}`,
    );
    this.#maxPages = pagesOf(Math.min(MEMORY_BYTES, this.#options.maxBytes));
    return openFile(':memory:');
  }

  /** Reads the stream of a queue that is there, or begins one. */
  #begin(): void {
    const { owner } = this.#options;
    const known = this.fact('stream');
    if (known !== null && this.fact('owner') === owner) {
      this.#stream = known;
      this.#try('read', () => this.#count());
      return;
    }
    this.#stream = newStream();
    this.#try('write', () => {
      inTransaction(this.#db, () => {
        this.#db.exec('DELETE FROM events; DELETE FROM facts;');
        this.#note('owner', owner);
        this.#note('stream', this.#stream);
      });
      this.#count();
    });
  }

  /** Takes telemetry out, and events where there is none, until what is left fits. @returns how many */
  #makeRoom(): number {
    let all = 0;
    for (const [counter, where] of [
      ['telemetry_dropped', `WHERE kind = '${TELEMETRY_KIND}'`],
      ['events_dropped', ''],
    ] as const) {
      const drop = this.#db.prepare(
        `DELETE FROM events WHERE seq IN (SELECT seq FROM events ${where} ORDER BY seq LIMIT ${BATCH})`,
      );
      let dropped = 0;
      while (this.#isFull()) {
        const { changes } = drop.run();
        if (Number(changes) === 0) break;
        dropped += Number(changes);
      }
      if (dropped > 0) this.#note(counter, String(Number(this.fact(counter) ?? 0) + dropped));
      all += dropped;
    }
    return all;
  }

  #isFull(): boolean {
    const value = (name: string): number => Number(this.#db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
    return value('page_count') - value('freelist_count') >= this.#maxPages;
  }

  /** Null: it failed, which the log says once until it works again. A file that turns out to be damaged is replaced. */
  #try<T>(what: string, work: () => T): T | null {
    try {
      const result = work();
      this.#problem = '';
      return result;
    } catch (error) {
      const problem = `the queue of events: cannot ${what}: ${messageOf(error)}`;
      if (problem !== this.#problem) this.#options.log.error(problem);
      this.#problem = problem;
      if (isDamage(error) && what !== 'close') this.#replace();
      return null;
    }
  }

  #replace(): void {
    const { path, log, now } = this.#options;
    this.#lost += this.#behind;
    this.#behind = 0;
    try {
      this.#db.close();
      if (this.#replaced) throw new Error('the new file is damaged too');
      this.#replaced = true;
      log.error(`the queue of events is set aside as ${setAside(path, now())}`);
      this.#db = openFile(path);
    } catch (error) {
      this.#db = this.#inMemory(error);
    }
    this.#begin();
  }
}

/**
 * Synchronous FULL: an event that was sent must still be there after a power cut. Otherwise its number would be given to
 * another one, which the hub would drop as a repeat.
 */
function openFile(path: string): DatabaseSync {
  const db = new DatabaseSync(path === ':memory:' ? path : ownDatabase(path), { timeout: BUSY_MS });
  try {
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`);
    db.exec(
      `PRAGMA wal_autocheckpoint = ${WAL_PAGES}; PRAGMA journal_size_limit = ${WAL_PAGES * PAGE_BYTES};`,
    );
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512;');
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
    if (version === 0) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    // Reading the first row of each table finds damage without reading all of it.
    db.prepare('SELECT seq, at, kind, detail FROM events LIMIT 1').get();
    db.prepare('SELECT name, value FROM facts LIMIT 1').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** What fits into the file, beside what SQLite writes next to it (twice: one part is full while the other is copied). */
function pagesOf(bytes: number): number {
  return Math.max(16, Math.floor(bytes / PAGE_BYTES) - 2 * WAL_PAGES - BATCH);
}

function newStream(): string {
  return randomBytes(12).toString('base64url');
}

export function ignore(): void {
  // Nobody waits.
}
