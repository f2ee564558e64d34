import { type SelectQueryBuilder, sql } from 'kysely';
import type { Queries, Tables } from '../database/tables.ts';
import { pruneUploads } from './uploads.ts';

const MIB = 1024 * 1024;
/** Of what a node may have in tracks, it may have this part in all the rest. */
const REST = 1 / 4;
/** Beyond it goes a little more, so that not each flight has to displace one. */
const LEFT = 0.95;
/** Deleted in one turn, so that nothing waits for it. */
const PRUNE = 5000;
/** The figures of a flight, in about. */
const ROW_BYTES = 200;
const TRACK_BYTES = sql<number>`octet_length(track)`;
const FLIGHT_BYTES = sql<number>`octet_length(detail) + octet_length(pilots) + ${sql.lit(ROW_BYTES)}`;

/** What a node has in the store, bytes. */
interface Used {
  tracks: number;
  rest: number;
}

/** A flight that was stored now: its texts. */
interface Stored {
  readonly detail: string;
  readonly pilots: string;
  readonly track: string | null;
}

/** A node of which something was deleted because it has too much. */
interface Trimmed {
  readonly node: string;
  readonly what: 'tracks' | 'flights';
}

/**
 * What the flights of each node take of the disk. Beyond its share the tracks of its oldest flights go, and where that is not enough
 * these flights; others keep theirs. The sums stay.
 */
export class FlightShares {
  readonly #db: Queries;
  readonly #most: Used;
  /** By node, of those that told a flight since the start. */
  readonly #used = new Map<string, Used>();

  /** Since they were pruned last. */
  readonly #uploaded = new Set<string>();

  /** @param mib of tracks that one node may have */
  constructor(db: Queries, mib: number) {
    this.#db = db;
    this.#most = { tracks: mib * MIB, rest: mib * MIB * REST };
  }

  /** Counts the node's bytes, if this is the first time since the start. @param on the transaction that will store a flight of it */
  async count(on: Queries, node: string): Promise<void> {
    if (!this.#used.has(node)) this.#used.set(node, await this.#counted(on, node));
  }

  async #counted(on: Queries, node: string): Promise<Used> {
    const bytesOf = async (
      query: SelectQueryBuilder<Tables, 'flights', object>,
      bytes: typeof TRACK_BYTES,
    ): Promise<number> => {
      const row = await query
        .select(({ fn }) => fn.sum<number | string | null>(bytes).as('bytes'))
        .where('node', '=', node)
        .executeTakeFirst();
      return Number(row?.bytes ?? 0);
    };
    const tracks = on.selectFrom('flights').innerJoin('flight_tracks', 'flight_tracks.id', 'flights.id');
    return {
      tracks: await bytesOf(tracks, TRACK_BYTES),
      rest: await bytesOf(on.selectFrom('flights'), FLIGHT_BYTES),
    };
  }

  /** What was stored of a node that was counted. */
  add(node: string, { detail, pilots, track }: Stored): void {
    const used = this.#used.get(node);
    if (used === undefined) return;
    used.rest += Buffer.byteLength(detail) + Buffer.byteLength(pilots) + ROW_BYTES;
    if (track !== null) used.tracks += Buffer.byteLength(track);
  }

  /** These nodes have told of uploads. */
  uploaded(nodes: readonly string[]): void {
    for (const node of nodes) this.#uploaded.add(node);
  }

  /** A part of what is too much. @returns of which nodes something was deleted */
  async prune(): Promise<readonly Trimmed[]> {
    const trimmed: Trimmed[] = [];
    for (const node of this.#uploaded) {
      this.#uploaded.delete(node);
      await pruneUploads(this.#db, node);
    }
    const over = [...this.#used].filter(
      ([, { tracks, rest }]) => tracks > this.#most.tracks || rest > this.#most.rest,
    );
    for (const [node] of over) {
      const used = await this.#counted(this.#db, node); // some may have been deleted for their age
      this.#used.set(node, used);
      if (used.tracks > this.#most.tracks) {
        await this.#deleteTracks(node, used);
        trimmed.push({ node, what: 'tracks' });
      }
      if (used.rest > this.#most.rest) {
        await this.#deleteFlights(node, used);
        trimmed.push({ node, what: 'flights' });
      }
    }
    return trimmed;
  }

  forget(node: string): void {
    this.#used.delete(node);
  }

  /** Somebody else may have stored flights since, or what was added was not stored. */
  recount(): void {
    this.#used.clear();
  }

  async #deleteTracks(node: string, used: Used): Promise<void> {
    const oldest = await this.#db
      .selectFrom('flights')
      .innerJoin('flight_tracks', 'flight_tracks.id', 'flights.id')
      .select(['flights.id', TRACK_BYTES.as('bytes')])
      .where('node', '=', node)
      .orderBy('flights.id')
      .limit(PRUNE)
      .execute();
    const ids = firstOf(oldest, used.tracks - this.#most.tracks * LEFT);
    used.tracks -= await deleteTracks(this.#db, ids);
  }

  async #deleteFlights(node: string, used: Used): Promise<void> {
    const oldest = await this.#db
      .selectFrom('flights')
      .select(['id', FLIGHT_BYTES.as('bytes')])
      .where('node', '=', node)
      .orderBy('id')
      .limit(PRUNE)
      .execute();
    const ids = firstOf(oldest, used.rest - this.#most.rest * LEFT);
    await this.#db.transaction().execute(async (on) => {
      const tracks = await deleteTracks(on, ids);
      const deleted = await on
        .deleteFrom('flights')
        .where('id', 'in', ids)
        .returning(FLIGHT_BYTES.as('bytes'))
        .execute();
      used.tracks -= tracks;
      used.rest -= sumOf(deleted);
    });
  }
}

/** Ids of the first rows that have so many bytes; at least one. */
function firstOf(
  rows: readonly { readonly id: number; readonly bytes: number }[],
  bytes: number,
): readonly number[] {
  let missing = bytes;
  const ids: number[] = [];
  for (const row of rows) {
    if (missing <= 0) break;
    ids.push(row.id);
    missing -= row.bytes;
  }
  return ids;
}

/** @returns how many bytes they had */
async function deleteTracks(on: Queries, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  return sumOf(
    await on.deleteFrom('flight_tracks').where('id', 'in', ids).returning(TRACK_BYTES.as('bytes')).execute(),
  );
}

function sumOf(rows: readonly { readonly bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}
