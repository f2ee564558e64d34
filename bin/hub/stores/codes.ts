import type { Reach } from '../../../shared/hub-api/caller.ts';
import type { Queries } from '../database/tables.ts';
import { sha256 } from '../keys/secret.ts';
import { reachIn, reachTexts } from './grant-columns.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Who makes the one that a hub with a broker of its own prints when it starts. */
export const PRINTED_BY = 'demo';

interface FoundCode extends Reach {
  /** Who made it. */
  readonly by: string;
  /** The one node that it is for; null: a new one. */
  readonly replaces: string | null;
}

/** The one-time secrets of enrolment codes, hashed. A code reaches no further than the operator who made it. */
export class Codes {
  readonly #db: Queries;
  readonly #now: () => number;

  constructor(db: Queries, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /**
   * @param replaces the node that it is for, which is enrolled; null: a new one
   * @returns until when it is good, ms since 1970
   */
  async add(secret: string, by: Reach & { readonly id: string }, replaces: string | null): Promise<number> {
    const now = this.#now();
    await this.#db.deleteFrom('codes').where('expires_at', '<', now).execute();
    const expires_at = now + DAY_MS;
    const made = { made_by: by.id, replaces, expires_at, used_at: null };
    const code = { hash: sha256(secret), ...reachTexts(by), ...made };
    await this.#db.insertInto('codes').values(code).execute();
    return expires_at;
  }

  /** Who made it, and whose nodes it is good for; null for a secret that is unknown, used or expired. */
  async find(secret: string): Promise<FoundCode | null> {
    const row = await this.#db
      .selectFrom('codes')
      .select(['nodes', 'tags', 'made_by', 'replaces'])
      .where('hash', '=', sha256(secret))
      .where('used_at', 'is', null)
      .where('expires_at', '>=', this.#now())
      .executeTakeFirst();
    return row === undefined ? null : { ...reachIn(row), by: row.made_by, replaces: row.replaces };
  }

  /** Uses it up. @param on a transaction @returns false if another one was faster */
  async use(secret: string, on: Queries): Promise<boolean> {
    const now = this.#now();
    const { numUpdatedRows } = await on
      .updateTable('codes')
      .set({ used_at: now })
      .where('hash', '=', sha256(secret))
      .where('used_at', 'is', null)
      .where('expires_at', '>=', now)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** Those that were made before this moment count no longer. @param at ms since 1970 */
  async endBefore(at: number): Promise<void> {
    await this.#db
      .deleteFrom('codes')
      .where('expires_at', '<', at + DAY_MS)
      .execute();
  }

  /** An operator who is removed has no codes left. @param on a transaction */
  async removeBy(operator: string, on: Queries): Promise<void> {
    await on.deleteFrom('codes').where('made_by', '=', operator).execute();
  }
}
