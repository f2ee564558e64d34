import type { Selectable } from 'kysely';
import type { Caller, Grant } from '../../../shared/hub-api/caller.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { isSecret, type NewCredential, newCredential } from '../keys/secret.ts';
import { grantOf, grantTexts } from './grant-columns.ts';

export interface ListedOperator extends Grant {
  readonly id: string;
  readonly name: string;
  /** ms since 1970. */
  readonly made_at: number;
  /** Of those who have signed in at the provider: what gave the rights, and until when; else null. */
  readonly group: string | null;
  readonly expires_at: number | null;
}

/** People with a credential of their own. Their grant never changes: another one is another credential. */
export class Operators {
  readonly #db: Queries;
  readonly #now: () => number;

  constructor(db: Queries, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async add(name: string, grant: Grant): Promise<NewCredential> {
    const made = newCredential('op');
    const { id, hash } = made;
    const row = { id, name, hash, ...grantTexts(grant), made_at: this.#now() };
    await this.#db.insertInto('operators').values(row).execute();
    return made;
  }

  /** The operator of a credential. @param id that it claims */
  async verify(id: string, credential: string): Promise<Caller | null> {
    const row = await this.#row(id);
    if (!isSecret(credential, row?.hash) || row === undefined) return null;
    const { name } = row;
    return { kind: 'operator', id, person: id, name, operator: name, expires_at: null, ...grantOf(row) };
  }

  async find(id: string): Promise<ListedOperator | null> {
    const row = await this.#row(id);
    return row === undefined ? null : listed(row);
  }

  /** @param on a transaction, if it is to see what that one does */
  async list(on = this.#db): Promise<readonly ListedOperator[]> {
    const rows = await on.selectFrom('operators').selectAll().orderBy('made_at').orderBy('id').execute();
    return rows.map(listed);
  }

  /** @param on a transaction */
  async remove(id: string, on: Queries): Promise<void> {
    await on.deleteFrom('operators').where('id', '=', id).execute();
  }

  async #row(id: string): Promise<Selectable<Tables['operators']> | undefined> {
    return this.#db.selectFrom('operators').selectAll().where('id', '=', id).executeTakeFirst();
  }
}

function listed(row: Selectable<Tables['operators']>): ListedOperator {
  const { id, name, made_at } = row;
  return { id, name, made_at, group: null, expires_at: null, ...grantOf(row) };
}
