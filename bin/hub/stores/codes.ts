import type { DatabaseSync } from 'node:sqlite';
import type { Grant } from '../api/caller.ts';
import { sha256 } from '../people/secret.ts';
import { nodesOf, nodesText } from './grant-columns.ts';

const DAY_MS = 24 * 3600 * 1000;

/** The one-time secrets of enrolment codes, hashed. A code of an operator with some nodes enrols one of those. */
export class Codes {
  readonly #db: DatabaseSync;
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** @returns until when it is good, ms since 1970 */
  add(secret: string, by: Pick<Grant, 'nodes'> & { readonly id: string }): number {
    const now = this.#now();
    this.#db.prepare('DELETE FROM codes WHERE expires_at < ?').run(now);
    this.#db
      .prepare('INSERT INTO codes (hash, nodes, made_by, expires_at) VALUES (?, ?, ?, ?)')
      .run(sha256(secret), nodesText(by), by.id, now + DAY_MS);
    return now + DAY_MS;
  }

  /** Whose nodes it is good for; null for a secret that is unknown, used or expired. */
  find(secret: string): Pick<Grant, 'nodes'> | null {
    const row = this.#db
      .prepare('SELECT nodes FROM codes WHERE hash = ? AND used_at IS NULL AND expires_at >= ?')
      .get(sha256(secret), this.#now());
    return row === undefined ? null : { nodes: nodesOf(row) };
  }

  /** Uses it up. @returns false if another one was faster */
  use(secret: string): boolean {
    const now = this.#now();
    const { changes } = this.#db
      .prepare('UPDATE codes SET used_at = ? WHERE hash = ? AND used_at IS NULL AND expires_at >= ?')
      .run(now, sha256(secret), now);
    return changes === 1;
  }

  /** An operator who is removed has no codes left. */
  removeBy(operator: string): void {
    this.#db.prepare('DELETE FROM codes WHERE made_by = ?').run(operator);
  }
}
