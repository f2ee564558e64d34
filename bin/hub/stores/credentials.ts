import type { Selectable } from 'kysely';
import type { Caller, Grant } from '../../../shared/hub-api/caller.ts';
import type { PublicJwk } from '../../../shared/schemas/fleet-statements.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { isSecret, type NewCredential, newCredential } from '../keys/secret.ts';
import { DENIED_REV } from './denied.ts';
import { grantOf, grantTexts } from './grant-columns.ts';
import { nextNumber } from './meta.ts';

export interface ListedCredential extends Grant {
  readonly id: string;
  readonly label: string;
  /** Id of the operator who made it. */
  readonly operator: string;
  /** ms since 1970. */
  readonly made_at: number;
  readonly used_at: number | null;
  /** Whether a key has used it. */
  readonly bound: boolean;
}

/** Credentials of machines. Each is bound to the first key that uses it, and ends with the operator who made it. */
export class Credentials {
  readonly #db: Queries;
  readonly #now: () => number;

  constructor(db: Queries, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @param operator id of who makes it */
  async add(label: string, grant: Grant, operator: string): Promise<NewCredential> {
    const made = newCredential('mc');
    const { id, hash } = made;
    const row = { id, label, hash, operator, ...grantTexts(grant), made_at: this.#now() };
    await this.#db.transaction().execute(async (on) => {
      await on.insertInto('credentials').values(row).execute();
      await nextNumber(on, DENIED_REV); // the broker's rules name it, also where another replica writes them
    });
    return made;
  }

  /** @param id that the credential claims */
  async verify(id: string, credential: string): Promise<Caller | null> {
    const row = await this.#db
      .selectFrom('credentials')
      .innerJoin('operators', 'operators.id', 'credentials.operator')
      .selectAll('credentials')
      .select('operators.name as operator_name')
      .where('credentials.id', '=', id)
      .executeTakeFirst();
    if (!isSecret(credential, row?.hash) || row === undefined) return null;
    const { label: name, operator_name: operator } = row;
    return { kind: 'machine', id, person: id, name, operator, expires_at: null, ...grantOf(row) };
  }

  /** Whether this key is the one of the credential; the first that asks becomes it. */
  async bind(id: string, key: PublicJwk): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('credentials')
      .set((eb) => ({ key: eb.fn.coalesce('key', eb.val(key.x)), used_at: this.#now() }))
      .where('id', '=', id)
      .where((eb) => eb.or([eb('key', 'is', null), eb('key', '=', key.x)]))
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  async find(id: string): Promise<ListedCredential | null> {
    const row = await this.#db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : listed(row);
  }

  async list(): Promise<readonly ListedCredential[]> {
    const rows = await this.#db
      .selectFrom('credentials')
      .selectAll()
      .orderBy('made_at')
      .orderBy('id')
      .execute();
    return rows.map(listed);
  }

  async madeBy(operator: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('credentials')
      .select('id')
      .where('operator', '=', operator)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** @param on a transaction */
  async remove(id: string, on: Queries): Promise<void> {
    await on.deleteFrom('credentials').where('id', '=', id).execute();
  }
}

function listed(row: Selectable<Tables['credentials']>): ListedCredential {
  const { id, label, operator, made_at, used_at, key } = row;
  return { id, label, operator, made_at, used_at, bound: key !== null, ...grantOf(row) };
}
