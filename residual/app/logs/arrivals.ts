import type { DatabaseSync } from 'node:sqlite';
import type { BootTime } from '../../../shared/boot-clock.ts';
import type { JsonObject } from '../../../shared/member.ts';

/** Between two notes and for a while after: values that came then have no note of their own. */
const SLACK_US = 15 * 60e6;

const TABLES = [
  { table: 'logs', time: 'ts_us' },
  { table: 'events', time: 'ts_us' },
  { table: 'sessions', time: 'ended_us' },
] as const;

/** Times of the wall clock, µs; both belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How far the tables were at a moment: what has these numbers, or smaller ones, came before. */
interface Arrived {
  readonly livedUs: number;
  readonly logs: number;
  readonly events: number;
  readonly sessions: number;
  /** What the wall clock has said since: a value of another time came before. */
  readonly since: Span;
}

/**
 * The order and the age in which records came, which the wall clock does not tell: notes of how far each table was, by the time that
 * the store has lived (the machine's uptime, over its boots; the time for which it was off does not count).
 */
export class Arrivals {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Notes how far the tables are now. @returns what is older than `maxAgeUs`; null: nothing */
  note(wallUs: number, { boot_id, uptime }: BootTime, maxAgeUs: number): Arrived | null {
    const uptimeUs = Math.round(uptime * 1e6);
    const last = this.#db.prepare('SELECT * FROM arrivals ORDER BY lived_us DESC LIMIT 1').get();
    if (last === undefined) this.#begin(wallUs, boot_id, uptimeUs, maxAgeUs);
    else {
      const sameBoot = last['boot_id'] === boot_id && uptimeUs >= Number(last['uptime_us']);
      const passed = Math.max(1, uptimeUs - (sameBoot ? Number(last['uptime_us']) : 0)); // each note is one of its own
      this.#insert(Number(last['lived_us']) + passed, boot_id, uptimeUs, wallUs, this.#newestIds());
    }
    const newest = Number(this.#db.prepare('SELECT max(lived_us) AS at FROM arrivals').get()?.['at'] ?? 0);
    return this.#upTo(newest - maxAgeUs);
  }

  /** What came in the newer half of what is noted; null with too few notes. */
  newerHalf(): Span | null {
    const row = this.#db
      .prepare('SELECT min(lived_us) AS a, max(lived_us) AS b FROM arrivals WHERE lived_us >= 0')
      .get();
    return this.#upTo((Number(row?.['a'] ?? 0) + Number(row?.['b'] ?? 0)) / 2)?.since ?? null;
  }

  /** The notes before it have nothing left to tell. */
  forget({ livedUs }: Arrived): void {
    this.#db.prepare('DELETE FROM arrivals WHERE lived_us < ?').run(livedUs);
  }

  /** A store without notes: of an older version, or new. Its records are as old as their own times say. */
  #begin(wallUs: number, bootId: string, uptimeUs: number, maxAgeUs: number): void {
    const before = wallUs - maxAgeUs;
    const all = this.#newestIds();
    // Up to the first that is young: what came after it did not come before.
    const ids = all.map((newest, index) => {
      const { table, time } = TABLES[index] ?? TABLES[0];
      const first = this.#db
        .prepare(`SELECT min(id) AS id FROM ${table} WHERE coalesce(${time}, ?1) >= ?1`)
        .get(before)?.['id'];
      return typeof first === 'number' ? first - 1 : newest;
    });
    this.#insert(-maxAgeUs, bootId, uptimeUs, before, ids);
    this.#insert(0, bootId, uptimeUs, wallUs, all);
  }

  #newestIds(): readonly number[] {
    return TABLES.map(({ table }) =>
      Number(this.#db.prepare(`SELECT max(id) AS id FROM ${table}`).get()?.['id'] ?? 0),
    );
  }

  #insert(livedUs: number, bootId: string, uptimeUs: number, wallUs: number, ids: readonly number[]): void {
    const [logs = 0, events = 0, sessions = 0] = ids;
    this.#db
      .prepare('INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(livedUs, bootId, uptimeUs, Math.round(wallUs), logs, events, sessions);
  }

  #upTo(livedUs: number): Arrived | null {
    const row = this.#db
      .prepare('SELECT * FROM arrivals WHERE lived_us <= ? ORDER BY lived_us DESC LIMIT 1')
      .get(livedUs);
    if (row === undefined) return null;
    const span = this.#db
      .prepare('SELECT min(wall_us) AS least, max(wall_us) AS most FROM arrivals WHERE lived_us >= ?')
      .get(Number(row['lived_us']));
    return arrivedOf(row, { from: Number(span?.['least']), to: Number(span?.['most']) + SLACK_US });
  }
}

function arrivedOf(row: JsonObject, since: Span): Arrived {
  return {
    livedUs: Number(row['lived_us']),
    logs: Number(row['logs']),
    events: Number(row['events']),
    sessions: Number(row['sessions']),
    since,
  };
}
