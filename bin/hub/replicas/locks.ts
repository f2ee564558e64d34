import { randomUUID } from 'node:crypto';
import { pooled, SESSION_IDLE_MS } from '../database/postgres.ts';
import type { DatabaseSession, HubDatabase, Queries } from '../database/tables.ts';
import { LeaseLost } from '../fleet/share.ts';

/** The first of the two numbers of our advisory locks; the second is that of what is locked. An arbitrary one. */
export const SPACE = 7302;
/** A question of look() has an answer even where nobody holds anything. */
const LOOK = `SELECT objid::int AS number, pid = pg_backend_pid() AS mine, pg_backend_pid() AS session,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
FROM (SELECT 1) AS one LEFT JOIN pg_locks ON locktype = 'advisory' AND classid = ${SPACE} AND objsubid = 2 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const LOCK = `SELECT number FROM unnest($1::int[]) AS number WHERE pg_try_advisory_lock(${SPACE}, number)`;
const UNLOCK = `SELECT pg_advisory_unlock(${SPACE}, number) FROM unnest($1::int[]) AS number`;
/** Rows are locked in the order of their names, as everywhere: two that want each other's would wait for ever. */
const FENCE = `UPDATE leases SET holder = $1, fence = fence + 1
WHERE name IN (SELECT name FROM leases WHERE name = ANY($2) ORDER BY name FOR UPDATE) RETURNING name, fence::int`;

interface Look {
  readonly number: number | null;
  readonly mine: boolean | null;
  readonly session: number;
  readonly now: number;
}

/**
 * What only one replica may have: session-level advisory locks of PostgreSQL, on a connection of their own. They end with the session:
 * when this process ends, when the connection is cut, and when the session says nothing for 6 s (idle_session_timeout), which a
 * process that stands still does not. No clock is asked, and no standby. Each time that something is given it has a higher fencing
 * number, in the table `leases`, by which a late write is noticed.
 */
export class Locks {
  readonly #database: Pick<HubDatabase, 'session' | 'name'>;
  readonly #names: readonly string[];
  readonly #monotonic: () => number;
  /** In the table, of this session. */
  #holder = '';
  #session: DatabaseSession | null = null;
  /** PostgreSQL's number of the session. */
  #backend: number | null = null;
  #held = new Map<string, number>();
  /** Of this session, by name; some may have no fencing number yet. */
  #mine: ReadonlySet<string> = new Set();
  /** When the last question that was answered was asked. */
  #asked = Number.NEGATIVE_INFINITY;

  /** @param names of all that there is to have, in a fixed order: its place is its number @param monotonic ms */
  constructor(
    database: Pick<HubDatabase, 'session' | 'name'>,
    names: readonly string[],
    monotonic: () => number,
  ) {
    this.#database = database;
    this.#names = names;
    this.#monotonic = monotonic;
  }

  /** The fencing numbers by name, of all that is surely held. */
  get held(): ReadonlyMap<string, number> {
    const isSure = this.#session?.ended === false && this.#monotonic() - this.#asked < SESSION_IDLE_MS;
    return isSure ? this.#held : new Map();
  }

  /**
   * Keeps the session alive, or begins one.
   * @returns what anybody holds, and how far this machine's clock is ahead of the database's, ms
   * @throws Error if the database is away, or a pooler stands between
   */
  async look(now: () => number): Promise<{ readonly taken: ReadonlySet<string>; readonly ahead: number }> {
    if (this.#session === null || this.#session.ended) await this.#begin();
    const asked = this.#monotonic();
    const wall = now();
    const rows = await this.#ask<Look>(LOOK);
    const half = (this.#monotonic() - asked) / 2;
    const backend = rows[0]?.session ?? null;
    if (this.#backend !== null && backend !== this.#backend) {
      await this.close();
      throw pooled(this.#database.name);
    }
    this.#backend = backend;
    this.#asked = asked;
    const names = (mine: boolean): ReadonlySet<string> =>
      new Set(
        rows.flatMap(({ number, mine: own }) =>
          number === null || (mine && own !== true) ? [] : (this.#names[number] ?? []),
        ),
      );
    this.#mine = names(true);
    for (const name of this.#held.keys()) if (!this.#mine.has(name)) this.#held.delete(name);
    return { taken: names(false), ahead: wall + half - (rows[0]?.now ?? wall) };
  }

  /** Those of these that nobody has, and those that it has without a number. */
  async take(names: readonly string[]): Promise<void> {
    const wanted = names.filter((name) => !this.#mine.has(name)).map((name) => this.#names.indexOf(name));
    const locked = wanted.length === 0 ? [] : await this.#ask<{ number: number }>(LOCK, [wanted]);
    this.#mine = new Set([...this.#mine, ...locked.flatMap(({ number }) => this.#names[number] ?? [])]);
    const own = [...this.#mine].filter((name) => !this.#held.has(name));
    if (own.length === 0) return;
    const rows = await this.#ask<{ name: string; fence: number }>(FENCE, [this.#holder, own]);
    for (const { name, fence } of rows) this.#held.set(name, fence);
  }

  /** For somebody else to take. */
  async release(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    for (const name of names) this.#held.delete(name);
    this.#mine = new Set([...this.#mine].filter((name) => !names.includes(name)));
    await this.#ask(UNLOCK, [names.map((name) => this.#names.indexOf(name))]);
  }

  /** Ends the session, and with it all that it holds. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#held = new Map();
    this.#mine = new Set();
    if (session?.ended === false) await session.close();
  }

  /**
   * Whoever wants one of these must wait for the end of the transaction. @param on a transaction
   * @throws LeaseLost if one is not held, or was somebody else's in between
   */
  async check(on: Queries, names: ReadonlySet<string>): Promise<void> {
    const { held } = this;
    const rows = await on
      .selectFrom('leases')
      .select(['name', 'fence'])
      .where('name', 'in', [...names])
      .where('holder', '=', this.#holder)
      .orderBy('name')
      .forShare()
      .execute();
    const fences = new Map(rows.map(({ name, fence }) => [name, fence]));
    const lost = [...names].filter((name) => !held.has(name) || fences.get(name) !== held.get(name));
    for (const name of lost) this.#held.delete(name);
    if (lost.length > 0) throw new LeaseLost();
  }

  async #begin(): Promise<void> {
    await this.close();
    const { session, name } = this.#database;
    if (session === null) throw new Error(`${name} has no sessions`);
    this.#backend = null;
    this.#holder = randomUUID();
    this.#session = await session();
  }

  async #ask<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (this.#session === null) throw new Error('no session with the database');
    return this.#session.ask<Row>(text, values);
  }
}
