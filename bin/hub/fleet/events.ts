import type { FromSchema } from 'json-schema-to-ts';
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { FLIGHT_KIND, UPLOAD_KIND } from '../../../shared/fleet/flight.ts';
import type { FleetEvent } from '../../../shared/fleet/told.ts';
import type { EventsQuery, eventList } from '../../../shared/hub-api/schemas.ts';
import type { Ack } from '../../../shared/schemas/fleet-statements.ts';
import { anyOf } from '../database/column-types.ts';
import { eventsInOrder } from '../database/engine.ts';
import { leavingOut } from '../database/leaving-out.ts';
import { storedObject } from '../database/stored-object.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { FlightShares } from '../flights/flight-shares.ts';
import { storeFlights } from '../flights/store-flights.ts';
import { storeUploads } from '../flights/uploads.ts';
import { readMeta, writeMeta } from '../stores/meta.ts';
import type { Share } from './share.ts';

type StoredEvent = FromSchema<typeof eventList>['events'][number];

/** More than this wait for the next commit: the rest is left to the nodes, which send it again. */
const MAX_WAITING = 20_000;
/** A node makes a new stream only when its queue was lost. */
const MAX_STREAMS = 8;
/** Deleted in one turn, so that nothing waits for it. */
const PRUNE = 5000;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of one statement. */
const ROWS = 500;
const BYTES = sql<number>`octet_length(detail)`;
/** Of the table meta: up to when events were deleted for their age. */
const UNTIL = 'events_until';

interface Stream {
  readonly node: string;
  readonly stream: string;
  /** Up to where its events are stored, or wait to be. */
  seq: number;
}

interface PendingEvent {
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

interface EventsOptions {
  readonly db: Queries;
  /** Whose events it stores. */
  readonly share: Share;
  /** What this node has sent cannot be stored: it is not acknowledged, and those of others are. */
  readonly onLeftOut: (node: string) => void;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly retention: Retention;
  /** Of tracks that one node may have, MiB. */
  readonly flightsMb: number;
}

/**
 * Events of nodes, each stored once and in order. A node sends the next one when the one before is acknowledged, so a gap in the
 * numbers is what its full queue has dropped.
 */
export class Events {
  readonly #db: Queries;
  readonly #share: Share;
  readonly #onLeftOut: (node: string) => void;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #retention: Retention;
  /** By node, its streams by name, newest last. */
  readonly #streams = new Map<string, Map<string, Stream>>();
  #waiting: PendingEvent[] = [];
  /** By node, of those that said something since the start. */
  readonly #used = new Map<string, Used>();
  /** Up to when events were deleted for their age (wall clock, ms), and when that was (monotonic, ms). */
  #aged: { readonly until: number | null; readonly at: number };
  #storedUntil: number;
  /** What the flights take that come as events. */
  readonly flights: FlightShares;

  private constructor(options: EventsOptions, until: number | null) {
    const { db, share, onLeftOut, now, monotonic, retention, flightsMb } = options;
    this.#db = db;
    this.flights = new FlightShares(db, flightsMb);
    this.#share = share;
    this.#onLeftOut = onLeftOut;
    this.#now = now;
    this.#monotonic = monotonic;
    this.#aged = { until, at: monotonic() };
    this.#storedUntil = until ?? 0;
    this.#retention = retention;
  }

  static async open(options: EventsOptions): Promise<Events> {
    return new Events(options, await readMeta(options.db, UNTIL));
  }

  take(node: string, event: FleetEvent): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ node, event, at: this.#now() });
  }

  /**
   * Stores what has come.
   * @returns what may be acknowledged now
   * @throws the database's error: nothing of it is stored, and the nodes send it again
   */
  async commit(): Promise<readonly Ack[]> {
    const waiting = this.#waiting.filter(({ node }) => this.#share.has(node));
    this.#waiting = [];
    if (waiting.length === 0) return [];
    try {
      const due = new Set<Stream>();
      const fresh: PendingEvent[] = [];
      for (const each of waiting) {
        const stream = await this.#streamOf(each.node, each.event.stream);
        due.add(stream); // a repeat too: the acknowledgement was lost, or is under way
        if (each.event.seq <= stream.seq) continue;
        stream.seq = each.event.seq;
        fresh.push(each);
      }
      const newest = newestOf(due);
      const out = new Set<string>();
      const of = <T extends { readonly node: string }>(
        all: readonly T[],
        nodes: readonly string[],
      ): readonly T[] => all.filter(({ node }) => nodes.includes(node));
      if (fresh.length > 0)
        await leavingOut(
          [...new Set(fresh.map(({ node }) => node))],
          async (nodes) => this.#insert(of(fresh, nodes), of(newest, nodes)),
          (node) => out.add(node),
        );
      for (const node of out) {
        this.#streams.delete(node);
        this.#onLeftOut(node);
      }
      return newest.filter(({ node }) => !out.has(node));
    } catch (error) {
      this.reread(); // what is stored counts
      throw error;
    }
  }

  /** @param nodes of whom alone; null: of every node */
  async list(
    { node, after, limit }: EventsQuery,
    nodes: readonly string[] | null,
  ): Promise<readonly StoredEvent[]> {
    let query = this.#db.selectFrom('events').selectAll().limit(limit);
    if (node !== undefined) query = query.where('node', '=', node);
    if (nodes !== null) query = query.where('node', 'in', anyOf(this.#db, nodes));
    if (after !== undefined) query = query.where('id', '>', after);
    const rows = await query.orderBy('id', after === undefined ? 'desc' : 'asc').execute();
    const found = rows.map(stored);
    return after === undefined ? found.toReversed() : found;
  }

  /** A part of what is too old or too many. @returns whether there may be more */
  async prune(): Promise<boolean> {
    const { max } = this.#retention;
    const tooOld = await this.#tooOld();
    const ends = await this.#db
      .selectFrom('events')
      .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
      .executeTakeFirst();
    const first = ends?.first ?? 0;
    const last = ends?.last ?? 0;
    const deleted = await this.#delete(
      this.#ids(PRUNE).where((eb) =>
        eb.or([
          eb('id', '<=', last - max),
          eb.and([eb('received_at', '<', tooOld), eb('id', '<', first + PRUNE)]),
        ]),
      ),
    );
    return deleted >= PRUNE;
  }

  /** Deletes the oldest of nodes that have more than their share. @returns these nodes */
  async pruneShares(): Promise<readonly string[]> {
    const most = Math.max(SHARE_MIN, Math.floor(this.#retention.max * SHARE));
    const over = [...this.#used].filter(([, { events, bytes }]) => events > most || bytes > SHARE_BYTES);
    for (const [node, used] of over) {
      const tooMany = Math.max(
        used.events - most,
        Math.ceil((used.events * (used.bytes - SHARE_BYTES)) / used.bytes),
      );
      await this.#delete(this.#ids(Math.min(tooMany, PRUNE)).where('node', '=', node));
    }
    return over.map(([node]) => node);
  }

  /** The oldest. */
  #ids(limit: number): SelectQueryBuilder<Tables, 'events', { id: number }> {
    return this.#db.selectFrom('events').select('id').orderBy('id').limit(limit);
  }

  /** @returns how many */
  async #delete(ids: SelectQueryBuilder<Tables, 'events', { id: number }>): Promise<number> {
    const rows = await this.#db
      .deleteFrom('events')
      .where('id', 'in', ids)
      .returning(['node', BYTES.as('bytes')])
      .execute();
    for (const { node, bytes } of rows) {
      const used = this.#used.get(node);
      if (used === undefined) continue;
      used.events--;
      used.bytes -= bytes;
    }
    return rows.length;
  }

  /** Counted once, when a node says something for the first time since the start. */
  async #usedBy(node: string): Promise<Used> {
    const known = this.#used.get(node);
    if (known !== undefined) return known;
    const row = await this.#db
      .selectFrom('events')
      .select(({ fn }) => [
        fn.countAll<number>().as('events'),
        fn.sum<number | string | null>(BYTES).as('bytes'),
      ])
      .where('node', '=', node)
      .executeTakeFirst();
    const used = { events: row?.events ?? 0, bytes: Number(row?.bytes ?? 0) };
    this.#used.set(node, used);
    return used;
  }

  /**
   * What was received before is too old. It goes no faster than time does while the hub runs, also across restarts: a clock that
   * jumped ahead deletes no more in a day than the events of a day. After a time in which the hub was off, events stay for longer by
   * as much, up to the most that it keeps.
   */
  async #tooOld(): Promise<number> {
    const oldest = await this.#db
      .selectFrom('events')
      .select('received_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    const at = this.#monotonic();
    const wanted = this.#now() - this.#retention.days * DAY_MS;
    const from = this.#aged.until ?? oldest?.received_at ?? wanted;
    // Whole ms, which alone PostgreSQL compares with a column of them.
    const until = Math.floor(oldest === undefined ? wanted : Math.min(wanted, from + (at - this.#aged.at)));
    this.#aged = { until, at };
    if (Math.abs(until - this.#storedUntil) > HOUR_MS) await this.#storeUntil(until);
    return until;
  }

  async #storeUntil(until: number): Promise<void> {
    await writeMeta(this.#db, UNTIL, Math.floor(until));
    this.#storedUntil = until;
  }

  /** Somebody else may have stored events since: how far each stream is, the database knows. */
  reread(): void {
    this.#streams.clear();
    this.#used.clear();
    this.flights.recount();
  }

  /** Its events stay for those who look into them; enrolled again, it may begin anew. @param on a transaction */
  async forget(node: string, on: Queries): Promise<void> {
    this.#streams.delete(node);
    this.#used.delete(node);
    this.flights.forget(node);
    await on.deleteFrom('streams').where('node', '=', node).execute();
  }

  async #insert(fresh: readonly PendingEvent[], due: readonly Ack[]): Promise<void> {
    for (const { node } of fresh) await this.#usedBy(node);
    const rows = fresh.map(({ node, event: { stream, seq, at, kind, detail }, at: received_at }) => ({
      node,
      stream,
      seq,
      at,
      received_at,
      kind,
      detail: JSON.stringify(kind === FLIGHT_KIND ? { ...detail, track: null } : detail),
    }));
    await this.#db.transaction().execute(async (on) => {
      await this.#share.check(on, new Set(fresh.map(({ node }) => node)));
      await eventsInOrder(on);
      for (let from = 0; from < rows.length; from += ROWS) {
        const inserted = await on
          .insertInto('events')
          .values(rows.slice(from, from + ROWS))
          .onConflict((conflict) => conflict.columns(['node', 'stream', 'seq']).doNothing())
          .returning(['node', BYTES.as('bytes')])
          .execute();
        for (const { node, bytes } of inserted) {
          const used = this.#used.get(node);
          if (used === undefined) continue;
          used.events++;
          used.bytes += bytes;
        }
      }
      await storeFlights(
        on,
        fresh.filter(({ event: { kind } }) => kind === FLIGHT_KIND),
        this.flights,
      );
      const uploads = fresh.filter(({ event: { kind } }) => kind === UPLOAD_KIND);
      await storeUploads(on, uploads);
      this.flights.uploaded(uploads.map(({ node }) => node));
      for (let from = 0; from < due.length; from += ROWS)
        await on
          .insertInto('streams')
          .values(due.slice(from, from + ROWS))
          .onConflict((conflict) =>
            conflict.columns(['node', 'stream']).doUpdateSet((eb) => ({ seq: eb.ref('excluded.seq') })),
          )
          .execute();
    });
  }

  async #streamOf(node: string, name: string): Promise<Stream> {
    const known = this.#streams.get(node)?.get(name);
    if (known !== undefined) return known;
    const row = await this.#db
      .selectFrom('streams')
      .select('seq')
      .where('node', '=', node)
      .where('stream', '=', name)
      .executeTakeFirst();
    const stream = { node, stream: name, seq: row?.seq ?? 0 };
    const streams = this.#streams.get(node) ?? new Map<string, Stream>();
    this.#streams.set(node, streams.set(name, stream));
    const [oldest] = streams.keys();
    if (streams.size > MAX_STREAMS && oldest !== undefined) {
      streams.delete(oldest);
      await this.#db.deleteFrom('streams').where('node', '=', node).where('stream', '=', oldest).execute();
    }
    return stream;
  }
}

/** Each stream once: one that a node's many others have pushed out of memory may be there twice. */
function newestOf(due: ReadonlySet<Stream>): readonly Ack[] {
  const found = new Map<string, Ack>();
  for (const { node, stream, seq } of due) {
    const name = `${node} ${stream}`;
    if (seq >= (found.get(name)?.seq ?? 0)) found.set(name, { node, stream, seq });
  }
  return [...found.values()];
}

function stored({ detail, ...event }: Selectable<Tables['events']>): StoredEvent {
  return { ...event, detail: { ...storedObject(detail) } };
}
