import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Caller, Grant } from '../../../shared/hub-api/caller.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { isSecret, type NewCredential, newCredential } from '../keys/secret.ts';
import { grantOf, grantTexts } from './grant-columns.ts';
import type { ListedOperator } from './operators.ts';

/** Of one subject at a time; the oldest of more end. */
const MAX_EACH = 10;
/** The last token of a sign-in has ended at every node by then, with a clock that is late. */
const REMEMBERED_MS = 3600 * 1000;

export interface NewSignIn extends Grant {
  /** The hash of what one answer of the provider belongs to: it makes one sign-in, and no second. */
  readonly state: Buffer;
  /** Of the provider: who it is, for ever. */
  readonly subject: string;
  readonly name: string;
  /** What gave the rights. */
  readonly group: string;
  /** ms since 1970. */
  readonly expires_at: number;
}

type Row = Selectable<Tables['sign_ins']>;

/**
 * People who have signed in at the provider. What they may do is decided then, and ends with the sign-in, or when the configuration
 * gives their group anything else.
 */
export class SignIns {
  readonly #db: Queries;
  readonly #now: () => number;
  readonly #grantNow: (group: string) => Grant | null;

  /** @param now wall clock, ms @param grantNow what a group has by the configuration; null: nothing */
  constructor(db: Queries, now: () => number, grantNow: (group: string) => Grant | null) {
    this.#db = db;
    this.#now = now;
    this.#grantNow = grantNow;
  }

  /** @returns null where this answer of the provider was used before */
  async add(
    { state, subject, name, group, expires_at, ...grant }: NewSignIn,
    on: Queries = this.#db,
  ): Promise<NewCredential | null> {
    const made = newCredential('op');
    const { id, hash } = made;
    const times = { made_at: this.#now(), expires_at, ended_at: null };
    const row = { id, hash, state, subject, name, group_name: group, ...grantTexts(grant), ...times };
    const { numInsertedOrUpdatedRows } = await on
      .insertInto('sign_ins')
      .values(row)
      .onConflict((conflict) => conflict.column('state').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n ? made : null;
  }

  /**
   * By a token that a client holds: while nobody has ended it there is one for each `state`, and the newest credential of it counts.
   * @param issuedAt of the token, ms since 1970
   * @returns null for a token from before it was ended
   */
  async renew(signIn: NewSignIn, issuedAt: number): Promise<NewCredential | null> {
    const { state, name, expires_at } = signIn;
    return this.#db.transaction().execute(async (on) => {
      const row = await on.selectFrom('sign_ins').selectAll().where('state', '=', state).executeTakeFirst();
      if (row === undefined) return this.add(signIn, on);
      const { id, ended_at } = row;
      const mine = on.updateTable('sign_ins').where('id', '=', id);
      if (ended_at === null && this.#isGranted(row)) {
        const made = newCredential('op', id);
        await mine.set({ hash: made.hash, name, expires_at }).execute();
        return made;
      }
      if (ended_at !== null && issuedAt <= ended_at) return null;
      await mine.set({ state: randomBytes(32) }).execute();
      return this.add(signIn, on);
    });
  }

  /** Who has this credential; null also for one that has ended. @param id that it claims */
  async verify(id: string, credential: string): Promise<Caller | null> {
    const row = await this.#row(id);
    if (!isSecret(credential, row?.hash) || row === undefined) return null;
    const { name, expires_at } = row;
    const person = `subject ${row.subject}`;
    return { kind: 'operator', id, person, name, operator: name, expires_at, ...grantOf(row) };
  }

  /** One that has not ended. */
  async find(id: string): Promise<ListedOperator | null> {
    const row = await this.#row(id);
    return row === undefined ? null : listed(row);
  }

  /** Those that have not ended. */
  async list(): Promise<readonly ListedOperator[]> {
    const rows = await this.#open().selectAll().orderBy('made_at').orderBy('id').execute();
    return rows.filter((row) => this.#isGranted(row)).map(listed);
  }

  /** Of this subject, more than one may have; the newest are not among them. */
  async tooMany(subject: string): Promise<readonly string[]> {
    const rows = await this.#open()
      .select('id')
      .where('subject', '=', subject)
      .orderBy('made_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.slice(MAX_EACH).map(({ id }) => id);
  }

  /** @param on a transaction */
  async end(id: string, on: Queries): Promise<void> {
    await on.updateTable('sign_ins').set({ ended_at: this.#now() }).where('id', '=', id).execute();
  }

  /** Forgets those that ended long ago. @param on a transaction @returns their ids */
  async forget(on: Queries): Promise<readonly string[]> {
    const rows = await on
      .deleteFrom('sign_ins')
      .where('expires_at', '<', this.#now() - REMEMBERED_MS)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  #open() {
    return this.#db
      .selectFrom('sign_ins')
      .where('ended_at', 'is', null)
      .where('expires_at', '>', this.#now());
  }

  async #row(id: string): Promise<Row | undefined> {
    const row = await this.#open().selectAll().where('id', '=', id).executeTakeFirst();
    return row !== undefined && this.#isGranted(row) ? row : undefined;
  }

  #isGranted({ group_name, scopes, nodes, tags }: Row): boolean {
    const grant = this.#grantNow(group_name);
    if (grant === null) return false;
    const now = grantTexts(grant);
    return now.scopes === scopes && now.nodes === nodes && now.tags === tags;
  }
}

function listed(row: Row): ListedOperator {
  const { id, name, made_at, group_name: group, expires_at } = row;
  return { id, name, made_at, group, expires_at, ...grantOf(row) };
}
