import type { DatabaseSync } from 'node:sqlite';
import type { FromSchema } from 'json-schema-to-ts';
import { inTransaction } from '../../../shared/files/transaction.ts';
import type { FleetEvent } from '../../../shared/fleet/told.ts';
import { parseJson, recordOf } from '../../../shared/member.ts';
import type { Ack } from '../../../shared/schemas/fleet-statements.ts';
import type { EventsQuery, eventList } from '../api/schemas.ts';
import { type DbRow, number, text } from '../stores/grant-columns.ts';

type StoredEvent = FromSchema<typeof eventList>['events'][number];

/** More than this wait for the next commit: the rest is left to the nodes, which send it again. */
const MAX_WAITING = 20_000;
/** A node makes a new stream only when its queue was lost. */
const MAX_STREAMS = 8;
/** Deleted in one turn, so that nothing waits for it. */
const PRUNE = 5000;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Of the table meta: up to when events were deleted for their age. */
const UNTIL = 'events_until';

interface Stream {
  readonly node: string;
  readonly stream: string;
  /** Up to where its events are stored, or wait to be. */
  seq: number;
}

interface Waiting {
  readonly node: string;
  readonly event: FleetEvent;
  readonly at: number;
}

export interface Retention {
  readonly days: number;
  readonly max: number;
}

/** The share of one node: this part of all events, and so many bytes. Beyond it its own oldest go. */
const SHARE = 1 / 50;
const SHARE_MIN = 1000;
const SHARE_BYTES = 64 * 1024 * 1024;

/** What a node has in the store. */
interface Used {
  events: number;
  bytes: number;
}

/**
 * Events of nodes, each stored once and in order. A node sends the next one when the one before is acknowledged, so a gap in the
 * numbers is what its full queue has dropped.
 */
export class Events {
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #retention: Retention;
  /** By node, its streams by name, newest last. */
  readonly #streams = new Map<string, Map<string, Stream>>();
  #waiting: Waiting[] = [];
  readonly #due = new Set<Stream>();
  /** By node, of those that said something since the start. */
  readonly #used = new Map<string, Used>();
  /** Up to when events were deleted for their age (wall clock, ms), and when that was (monotonic, ms). */
  #aged: { readonly until: number | null; readonly at: number };
  #storedUntil: number;

  /** @param now wall clock, ms. @param monotonic ms */
  constructor(db: DatabaseSync, now: () => number, monotonic: () => number, retention: Retention) {
    this.#db = db;
    this.#now = now;
    this.#monotonic = monotonic;
    const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(UNTIL);
    const until = row === undefined ? null : number(row, 'value');
    this.#aged = { until, at: monotonic() };
    this.#storedUntil = until ?? 0;
    this.#retention = retention;
  }

  take(node: string, event: FleetEvent): void {
    const stream = this.#streamOf(node, event.stream);
    if (event.seq <= stream.seq) {
      this.#due.add(stream); // a repeat: the acknowledgement was lost, or is under way
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push({ node, event, at: this.#now() });
    stream.seq = event.seq;
    this.#due.add(stream);
  }

  /**
   * Stores what has come.
   * @returns what may be acknowledged now
   * @throws SQLite's error: nothing of it is stored, and the nodes send it again
   */
  commit(): readonly Ack[] {
    const waiting = this.#waiting;
    const due = [...this.#due];
    this.#waiting = [];
    this.#due.clear();
    if (waiting.length > 0) {
      try {
        inTransaction(this.#db, () => this.#insert(waiting, due));
      } catch (error) {
        this.#streams.clear(); // read again: what is stored counts
        this.#used.clear();
        throw error;
      }
    }
    return due.map(({ node, stream, seq }) => ({ node, stream, seq }));
  }

  list({ node, after, limit }: EventsQuery, nodes: readonly string[] | null): readonly StoredEvent[] {
    const where: string[] = [];
    const values: (string | number)[] = [];
    if (node !== undefined) {
      where.push('node = ?');
      values.push(node);
    }
    if (nodes !== null) {
      where.push('node IN (SELECT value FROM json_each(?))');
      values.push(JSON.stringify(nodes));
    }
    if (after !== undefined) {
      where.push('id > ?');
      values.push(after);
    }
    const filter = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
    const order = after === undefined ? 'DESC' : 'ASC';
    const rows = this.#db
      .prepare(`SELECT * FROM events ${filter} ORDER BY id ${order} LIMIT ?`)
      .all(...values, limit)
      .map(stored);
    return after === undefined ? rows.toReversed() : rows;
  }

  /** A part of what is too old or too many. @returns whether there may be more */
  prune(): boolean {
    const { max } = this.#retention;
    const deleted = this.#delete(
      `SELECT id FROM events WHERE id <= (SELECT max(id) FROM events) - ?
       OR (received_at < ? AND id < (SELECT min(id) FROM events) + ?) ORDER BY id LIMIT ?`,
      max,
      this.#tooOld(),
      PRUNE,
      PRUNE,
    );
    return deleted >= PRUNE;
  }

  /** Deletes the oldest of nodes that have more than their share. @returns these nodes */
  pruneShares(): readonly string[] {
    const most = Math.max(SHARE_MIN, Math.floor(this.#retention.max * SHARE));
    const over = [...this.#used].filter(([, { events, bytes }]) => events > most || bytes > SHARE_BYTES);
    for (const [node, used] of over) {
      const tooMany = Math.max(
        used.events - most,
        Math.ceil((used.events * (used.bytes - SHARE_BYTES)) / used.bytes),
      );
      this.#delete(
        'SELECT id FROM events WHERE node = ? ORDER BY id LIMIT ?',
        node,
        Math.min(tooMany, PRUNE),
      );
    }
    return over.map(([node]) => node);
  }

  /** @param ids a query. @returns how many */
  #delete(ids: string, ...values: readonly (string | number)[]): number {
    const rows = this.#db
      .prepare(`DELETE FROM events WHERE id IN (${ids}) RETURNING node, octet_length(detail) AS bytes`)
      .all(...values);
    for (const row of rows) {
      const used = this.#used.get(text(row, 'node'));
      if (used === undefined) continue;
      used.events--;
      used.bytes -= number(row, 'bytes');
    }
    return rows.length;
  }

  /** Counted once, when a node says something for the first time since the start. */
  #usedBy(node: string): Used {
    const known = this.#used.get(node);
    if (known !== undefined) return known;
    const row = this.#db
      .prepare('SELECT count(*) AS events, total(octet_length(detail)) AS bytes FROM events WHERE node = ?')
      .get(node);
    const used =
      row === undefined
        ? { events: 0, bytes: 0 }
        : { events: number(row, 'events'), bytes: number(row, 'bytes') };
    this.#used.set(node, used);
    return used;
  }

  /**
   * What was received before is too old. It goes no faster than time does while the hub runs, also across restarts: a clock that
   * jumped ahead deletes no more in a day than the events of a day. After a time in which the hub was off, events stay for longer by
   * as much, up to the most that it keeps.
   */
  #tooOld(): number {
    const oldest = this.#db.prepare('SELECT received_at FROM events ORDER BY id LIMIT 1').get();
    const at = this.#monotonic();
    const wanted = this.#now() - this.#retention.days * DAY_MS;
    const from = this.#aged.until ?? (oldest === undefined ? wanted : number(oldest, 'received_at'));
    const until = oldest === undefined ? wanted : Math.min(wanted, from + (at - this.#aged.at));
    this.#aged = { until, at };
    if (Math.abs(until - this.#storedUntil) > HOUR_MS) this.#storeUntil(until);
    return until;
  }

  #storeUntil(until: number): void {
    this.#db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(UNTIL, Math.floor(until));
    this.#storedUntil = until;
  }

  /** Its events stay for those who look into them; enrolled again, it may begin anew. */
  forget(node: string): void {
    this.#streams.delete(node);
    this.#used.delete(node);
    this.#db.prepare('DELETE FROM streams WHERE node = ?').run(node);
  }

  #insert(waiting: readonly Waiting[], due: readonly Stream[]): void {
    const insert = this.#db.prepare(
      'INSERT OR IGNORE INTO events (node, stream, seq, at, received_at, kind, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const { node, event, at } of waiting) {
      const used = this.#usedBy(node);
      const detail = JSON.stringify(event.detail);
      const { changes } = insert.run(node, event.stream, event.seq, event.at, at, event.kind, detail);
      if (changes === 0) continue;
      used.events++;
      used.bytes += Buffer.byteLength(detail);
    }
    const raise = this.#db.prepare(
      'INSERT INTO streams (node, stream, seq) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq',
    );
    for (const { node, stream, seq } of due) raise.run(node, stream, seq);
  }

  #streamOf(node: string, name: string): Stream {
    const streams = this.#streams.get(node) ?? new Map<string, Stream>();
    this.#streams.set(node, streams);
    let stream = streams.get(name);
    if (stream === undefined) {
      const row = this.#db.prepare('SELECT seq FROM streams WHERE node = ? AND stream = ?').get(node, name);
      stream = { node, stream: name, seq: row === undefined ? 0 : number(row, 'seq') };
      streams.set(name, stream);
      const [oldest] = streams.keys();
      if (streams.size > MAX_STREAMS && oldest !== undefined) {
        streams.delete(oldest);
        this.#db.prepare('DELETE FROM streams WHERE node = ? AND stream = ?').run(node, oldest);
      }
    }
    return stream;
  }
}

function stored(row: DbRow): StoredEvent {
  return {
    id: number(row, 'id'),
    node: text(row, 'node'),
    stream: text(row, 'stream'),
    seq: number(row, 'seq'),
    at: number(row, 'at'),
    received_at: number(row, 'received_at'),
    kind: text(row, 'kind'),
    detail: { ...recordOf(parseJson(text(row, 'detail'))) },
  };
}
