import type { Selectable, SelectQueryBuilder } from 'kysely';
import { ApiError } from '../../../shared/errors.ts';
import type { FlightDetail } from '../../../shared/fleet/flight.ts';
import type {
  FlightAnswer,
  FlightEntry,
  FlightFilters,
  FlightsQuery,
} from '../../../shared/hub-api/flight-schemas.ts';
import { isOneOf } from '../../../shared/member.ts';
import { anyOf } from '../database/column-types.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { readMeta, writeMeta } from '../stores/meta.ts';
import { SEVERITIES } from './told-flight.ts';
import { filesOf } from './uploads.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Of the table meta: what time it was, as far as it is believed, when flights were last deleted for their age. */
const CLOCK = 'flights_clock';
/** Deleted in one turn, so that nothing waits for it. */
const PRUNE = 1000;
/** Rows of a CSV: an authority asks for a year of a fleet. */
const MOST = 100_000;
const PAGE = 500;

type Row = Selectable<Tables['flights']>;
type FlightDetails = Omit<FlightAnswer, Exclude<keyof FlightEntry, 'findings'> | 'track'>;
type FlightQuery = SelectQueryBuilder<Tables, 'flights', object>;
/** Ids of nodes; null: all, also those that are not in the fleet any more. */
type VisibleNodes = readonly string[] | null;

interface FlightsOptions {
  readonly db: Queries;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Null: for ever. */
  readonly keepDays: number | null;
}

/** The flights that nodes have told (`storeFlights` puts them there). */
export class Flights {
  readonly #options: FlightsOptions;
  /** When flights were last deleted (monotonic, ms). */
  #prunedAt: number;

  constructor(options: FlightsOptions) {
    this.#options = options;
    this.#prunedAt = options.monotonic();
  }

  /** The newest first. */
  async page(
    query: FlightsQuery,
    seen: VisibleNodes,
  ): Promise<{ flights: FlightEntry[]; next: string | null }> {
    const rows = await this.#rows(query, seen, query.cursor, query.limit + 1);
    const page = rows.slice(0, query.limit);
    return { flights: page.map(entryOf), next: rows.length > page.length ? cursorOf(page.at(-1)) : null };
  }

  /** @throws ApiError E_NOT_FOUND, also for a flight of a node that this caller may not see */
  async find(id: string, seen: VisibleNodes): Promise<FlightAnswer> {
    const { db } = this.#options;
    const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
    const row = await db.selectFrom('flights').selectAll().where('id', '=', number).executeTakeFirst();
    if (row === undefined || !(seen?.includes(row.node) ?? true))
      throw new ApiError('E_NOT_FOUND', `There is no flight ${id}.`);
    const found = await db
      .selectFrom('flight_tracks')
      .select('track')
      .where('id', '=', number)
      .executeTakeFirst();
    const details = detailOf(row);
    const files = await filesOf(db, { ...row, files: details.files });
    return { ...entryOf(row), ...details, files, track: featureOf(found?.track) };
  }

  /** All of them, a page at a time. @throws ApiError E_INVALID_VALUE for more than a table has rows */
  async all(filters: FlightFilters, seen: VisibleNodes): Promise<AsyncGenerator<readonly FlightEntry[]>> {
    const tooMany = await this.#filtered(filters, seen).select('id').offset(MOST).limit(1).execute();
    if (tooMany.length > 0)
      throw new ApiError(
        'E_INVALID_VALUE',
        `These are more than ${MOST} flights. Ask for a shorter time, or for one node.`,
      );
    return this.#pages(filters, seen);
  }

  async *#pages(filters: FlightFilters, seen: VisibleNodes): AsyncGenerator<readonly FlightEntry[]> {
    let sent = 0;
    for (let cursor: string | undefined; sent < MOST; ) {
      const rows: readonly Row[] = await this.#rows(filters, seen, cursor, PAGE);
      yield rows.map(entryOf);
      sent += rows.length;
      cursor = cursorOf(rows.at(-1)) ?? undefined;
      if (rows.length < PAGE) return;
    }
  }

  /**
   * Deletes a part of what is too old. Time goes no faster for that than it does while the hub runs: a clock that jumped ahead deletes
   * no more than the flights of the time that has passed (as `Events`). Another `keepDays` counts at once.
   * @returns whether there may be more
   */
  async prune(): Promise<boolean> {
    const { db, keepDays } = this.#options;
    const time = await this.#believed();
    return db.transaction().execute(async (on) => {
      await writeMeta(on, CLOCK, time);
      if (keepDays === null) return false;
      const until = time - keepDays * DAY_MS;
      await on.deleteFrom('uploads').where('received_at', '<', until).execute();
      const old = await on
        .selectFrom('flights')
        .select('id')
        .where('received_at', '<', until)
        .orderBy('received_at')
        .limit(PRUNE)
        .execute();
      const ids = old.map(({ id }) => id);
      if (ids.length === 0) return false;
      await on.deleteFrom('flight_tracks').where('id', 'in', ids).execute();
      await on.deleteFrom('flights').where('id', 'in', ids).execute();
      return ids.length === PRUNE;
    });
  }

  /** Another one prunes: the time until now is counted there. */
  leave(): void {
    this.#prunedAt = this.#options.monotonic();
  }

  /** What time it is, ms since 1970: at most as long after the time that was believed last as has passed since in this process. */
  async #believed(): Promise<number> {
    const { db, now, monotonic } = this.#options;
    const at = monotonic();
    const passed = at - this.#prunedAt;
    this.#prunedAt = at;
    const newest = await db
      .selectFrom('flights')
      .select(({ fn }) => fn.max('received_at').as('at'))
      .executeTakeFirst();
    const last = (await readMeta(db, CLOCK)) ?? newest?.at ?? now();
    return Math.floor(Math.min(now(), last + passed));
  }

  #filtered({ node, battery, from, to }: FlightFilters, seen: VisibleNodes): FlightQuery {
    let query: FlightQuery = this.#options.db.selectFrom('flights');
    if (node !== undefined) query = query.where('node', '=', node);
    if (battery !== undefined) query = query.where('battery', '=', battery);
    if (from !== undefined) query = query.where('started_at', '>=', from);
    if (to !== undefined) query = query.where('started_at', '<', to);
    if (seen !== null) query = query.where('node', 'in', anyOf(this.#options.db, seen));
    return query;
  }

  async #rows(
    filters: FlightFilters,
    seen: VisibleNodes,
    cursor: string | undefined,
    limit: number,
  ): Promise<readonly Row[]> {
    let query = this.#filtered(filters, seen).selectAll('flights');
    if (cursor !== undefined) {
      const [at = 0, id = 0] = cursor.split('-').map(Number);
      query = query.where((eb) =>
        eb.or([eb('started_at', '<', at), eb.and([eb('started_at', '=', at), eb('id', '<', id)])]),
      );
    }
    return query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  }
}

function cursorOf(row: Row | undefined): string | null {
  return row === undefined ? null : `${row.started_at}-${row.id}`;
}

function entryOf(row: Row): FlightEntry {
  const pilots: FlightEntry['pilots'] = JSON.parse(row.pilots);
  return {
    id: row.id,
    node: row.node,
    flight: row.flight,
    received_at: row.received_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    armed_s: row.armed_s,
    airborne_s: row.airborne_s,
    distance_m: row.distance_m,
    max_height_m: row.max_height_m,
    max_speed_mps: row.max_speed_ms,
    max_speed_ms: row.max_speed_ms,
    battery: { id: row.battery, used_mah: row.used_mah, start_v: row.start_v, end_v: row.end_v },
    pilots,
    findings: row.findings,
    worst: isOneOf(SEVERITIES, row.worst) ? row.worst : null,
  };
}

/** As `storeFlights` has written it. */
function detailOf({ detail }: Row): FlightDetails {
  const details: FlightDetails = JSON.parse(detail);
  return { ...details, files: details.files ?? [] }; // one of an older version has none
}

function featureOf(text: string | undefined): FlightAnswer['track'] {
  if (text === undefined) return null;
  const points: NonNullable<FlightDetail['track']> = JSON.parse(text);
  if (points.length < 2) return null; // no line (RFC 7946, 3.1.4)
  return {
    type: 'Feature',
    geometry: {
      type: 'LineString',
      coordinates: points.map(([, lat, lon]) => [lon, lat]),
    },
    // Not as a third coordinate: that would be above the ellipsoid (RFC 7946, 3.1.1).
    properties: { times_s: points.map(([s]) => s), heights_m: points.map(([, , , height]) => height) },
  };
}
