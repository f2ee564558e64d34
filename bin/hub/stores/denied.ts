import { CALLER_ID } from '../../../shared/fleet/topics.ts';
import type { Queries } from '../database/tables.ts';
import { nextNumber } from './meta.ts';

/** The most that a policy has; the oldest of more are denied by the broker alone. */
const MAX_REVOKED = 10_000;
/** Of the table meta: counts the times that somebody was denied, or got a credential: then the broker has other rules. */
export const DENIED_REV = 'denied_rev';

/** Ids whose certificates no longer count: of ended credentials, and of nodes that were removed and not enrolled again. */
export class Denied {
  readonly #db: Queries;
  readonly #now: () => number;

  constructor(db: Queries, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @param on a transaction */
  async add(ids: readonly string[], on: Queries): Promise<void> {
    if (ids.length === 0) return;
    const at = this.#now();
    const rev = await nextNumber(on, DENIED_REV);
    await on
      .insertInto('denied')
      .values(ids.map((id) => ({ id, at, rev })))
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ rev }))
      .execute();
  }

  /** Who was denied after one count and up to another. */
  async between(rev: number, upTo: number): Promise<readonly string[]> {
    if (upTo <= rev) return [];
    const rows = await this.#db
      .selectFrom('denied')
      .select('id')
      .where('rev', '>', rev)
      .where('rev', '<=', upTo)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** @param on a transaction */
  async remove(id: string, on: Queries): Promise<void> {
    await on.deleteFrom('denied').where('id', '=', id).execute();
  }

  /** @param on a transaction */
  async has(id: string, on: Queries): Promise<boolean> {
    const row = await on.selectFrom('denied').select('id').where('id', '=', id).executeTakeFirst();
    return row !== undefined;
  }

  async list(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('denied')
      .select('id')
      .orderBy('at', 'desc')
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** For the policy: the credentials among them, newest first. */
  async revoked(): Promise<readonly string[]> {
    return (await this.list()).filter((id) => CALLER_ID.test(id)).slice(0, MAX_REVOKED);
  }
}
