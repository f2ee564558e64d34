import type { DatabaseSync } from 'node:sqlite';
import type { PublicJwk } from '../../../shared/schemas/fleet-statements.ts';
import type { Caller, Grant } from '../api/caller.ts';
import { isSecret, type NewCredential, newCredential } from '../people/secret.ts';
import { bytes, type DbRow, grantOf, grantTexts, number, numberOrNull, text } from './grant-columns.ts';

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

const WITH_OPERATOR = `SELECT credentials.*, operators.name AS operator_name FROM credentials
  JOIN operators ON operators.id = credentials.operator`;

/** Credentials of machines. Each is bound to the first key that uses it, and ends with the operator who made it. */
export class Credentials {
  readonly #db: DatabaseSync;
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @param operator id of who makes it */
  add(label: string, grant: Grant, operator: string): NewCredential {
    const made = newCredential('mc');
    this.#db
      .prepare(
        'INSERT INTO credentials (id, label, hash, operator, scopes, nodes, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .run(made.id, label, made.hash, operator, ...grantTexts(grant), this.#now());
    return made;
  }

  /** @param id that the credential claims */
  verify(id: string, credential: string): Caller | null {
    const row = this.#db.prepare(`${WITH_OPERATOR} WHERE credentials.id = ?`).get(id);
    if (!isSecret(credential, row === undefined ? undefined : bytes(row, 'hash')) || row === undefined)
      return null;
    const operator = text(row, 'operator_name');
    return { kind: 'machine', id, name: text(row, 'label'), operator, ...grantOf(row) };
  }

  /** Whether this key is the one of the credential; the first that asks becomes it. */
  bind(id: string, key: PublicJwk): boolean {
    const { changes } = this.#db
      .prepare(
        'UPDATE credentials SET key = coalesce(key, ?), used_at = ? WHERE id = ? AND coalesce(key, ?) = ?',
      )
      .run(key.x, this.#now(), id, key.x, key.x);
    return changes === 1;
  }

  find(id: string): ListedCredential | null {
    const row = this.#db.prepare('SELECT * FROM credentials WHERE id = ?').get(id);
    return row === undefined ? null : listed(row);
  }

  list(): readonly ListedCredential[] {
    return this.#db.prepare('SELECT * FROM credentials ORDER BY made_at, id').all().map(listed);
  }

  madeBy(operator: string): readonly string[] {
    return this.#db
      .prepare('SELECT id FROM credentials WHERE operator = ?')
      .all(operator)
      .map((row) => text(row, 'id'));
  }

  remove(id: string): void {
    this.#db.prepare('DELETE FROM credentials WHERE id = ?').run(id);
  }
}

function listed(row: DbRow): ListedCredential {
  return {
    id: text(row, 'id'),
    label: text(row, 'label'),
    operator: text(row, 'operator'),
    made_at: number(row, 'made_at'),
    used_at: numberOrNull(row, 'used_at'),
    bound: row['key'] !== null,
    ...grantOf(row),
  };
}
