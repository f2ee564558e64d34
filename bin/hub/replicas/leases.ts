import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../database/tables.ts';
import { LeaseLost } from './share.ts';

/** How long a lease lasts that nobody renews. */
const LEASE_MS = 6000;
/** The database's clock: those of the replicas may differ. */
const NOW: RawBuilder<number> = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
const UNTIL: RawBuilder<number> = sql`${NOW} + ${sql.lit(LEASE_MS)}`;

/** What a replica holds: the fencing number by name. Each time that a lease is given it has a higher one. */
type Held = ReadonlyMap<string, number>;

/** Leases in PostgreSQL, all of one holder. What is held is known to the holder only until it is asked again: see `check`. */
export class Leases {
  readonly #db: Queries;
  readonly #monotonic: () => number;
  readonly #holder = randomUUID();
  #held = new Map<string, number>();
  #until = 0;

  /** @param monotonic ms */
  constructor(db: Queries, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** As far as it is known here. */
  get held(): Held {
    return this.#monotonic() < this.#until ? this.#held : new Map();
  }

  /** All that is still its own, for longer. What another one has taken since is not held any more. */
  async renew(): Promise<void> {
    const asked = this.#monotonic();
    const rows = await this.#db
      .updateTable('leases')
      .set({ until: UNTIL })
      .where('name', 'in', this.#mine())
      .returning(['name', 'fence'])
      .execute();
    this.#held = new Map(rows.map(({ name, fence }) => [name, fence]));
    this.#until = asked + LEASE_MS;
  }

  /** Some of those that nobody has. @param like as of LIKE. @param most how many */
  async take(like: string, most: number): Promise<void> {
    const rows = await this.#db
      .updateTable('leases')
      .set({ holder: this.#holder, until: UNTIL, fence: sql<number>`fence + 1` })
      .where('name', 'in', (eb) =>
        eb
          .selectFrom('leases')
          .select('name')
          .where('name', 'like', like)
          .where((or) => or.or([or('holder', 'is', null), or('until', '<', NOW)]))
          .orderBy('name')
          .limit(most)
          .forUpdate()
          .skipLocked(),
      )
      .returning(['name', 'fence'])
      .execute();
    for (const { name, fence } of rows) this.#held.set(name, fence);
  }

  /** Locked in the order of their names, as everywhere: two that have some and want the others' would wait for ever. */
  #mine() {
    return this.#db
      .selectFrom('leases')
      .select('name')
      .where('holder', '=', this.#holder)
      .orderBy('name')
      .forUpdate();
  }

  /** How many like this somebody has. */
  async count(like: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom('leases')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('name', 'like', like)
      .where('until', '>=', NOW)
      .where('holder', 'is not', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** For somebody else to take. */
  async release(names: readonly string[]): Promise<void> {
    for (const name of names) this.#held.delete(name);
    if (names.length === 0) return;
    await this.#db
      .updateTable('leases')
      .set({ holder: null, until: 0 })
      .where('name', 'in', this.#mine().where('name', 'in', names))
      .execute();
  }

  async releaseAll(): Promise<void> {
    await this.release([...this.#held.keys()]);
  }

  /**
   * Whoever wants one of these must wait for the end of the transaction. @param on a transaction
   * @throws LeaseLost if one is not held, or was somebody else's in between
   */
  async check(on: Queries, names: ReadonlySet<string>): Promise<void> {
    const held = [...names].map((name) => [name, this.#held.get(name)] as const);
    const rows = await on
      .selectFrom('leases')
      .select(['name', 'fence'])
      .where('name', 'in', [...names])
      .where('holder', '=', this.#holder)
      .orderBy('name')
      .forShare()
      .execute();
    const fences = new Map(rows.map(({ name, fence }) => [name, fence]));
    for (const [name, fence] of held)
      if (fence === undefined || fences.get(name) !== fence) throw new LeaseLost();
  }
}
