import type { DatabaseSync } from 'node:sqlite';
import type { Caller, Grant } from '../api/caller.ts';
import { isSecret, type NewCredential, newCredential } from '../people/secret.ts';
import { bytes, type DbRow, grantOf, grantTexts, number, text } from './grant-columns.ts';

export interface ListedOperator extends Grant {
  readonly id: string;
  readonly name: string;
  /** ms since 1970. */
  readonly made_at: number;
}

/** People with a credential of their own. Their grant never changes: another one is another credential. */
export class Operators {
  readonly #db: DatabaseSync;
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  add(name: string, grant: Grant): NewCredential {
    const made = newCredential('op');
    this.#db
      .prepare('INSERT INTO operators (id, name, hash, scopes, nodes, made_at) VALUES (?, ?, ?, ?, ?, ?)')
      .run(made.id, name, made.hash, ...grantTexts(grant), this.#now());
    return made;
  }

  /** The operator of a credential. @param id that it claims */
  verify(id: string, credential: string): Caller | null {
    const row = this.#db.prepare('SELECT * FROM operators WHERE id = ?').get(id);
    if (!isSecret(credential, row === undefined ? undefined : bytes(row, 'hash')) || row === undefined)
      return null;
    const name = text(row, 'name');
    return { kind: 'operator', id, name, operator: name, ...grantOf(row) };
  }

  find(id: string): ListedOperator | null {
    const row = this.#db.prepare('SELECT * FROM operators WHERE id = ?').get(id);
    return row === undefined ? null : listed(row);
  }

  list(): readonly ListedOperator[] {
    return this.#db.prepare('SELECT * FROM operators ORDER BY made_at, id').all().map(listed);
  }

  remove(id: string): void {
    this.#db.prepare('DELETE FROM operators WHERE id = ?').run(id);
  }
}

function listed(row: DbRow): ListedOperator {
  return { id: text(row, 'id'), name: text(row, 'name'), made_at: number(row, 'made_at'), ...grantOf(row) };
}
