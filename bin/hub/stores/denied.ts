import type { DatabaseSync } from 'node:sqlite';
import { CALLER_ID } from '../../../shared/fleet/topics.ts';
import { text } from './grant-columns.ts';

/** The most that a policy has; the oldest of more are denied by the broker alone. */
const MAX_REVOKED = 10_000;

/** Ids whose certificates no longer count: of ended credentials, and of nodes that were removed and not enrolled again. */
export class Denied {
  readonly #db: DatabaseSync;
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  add(id: string): void {
    this.#db.prepare('INSERT OR IGNORE INTO denied (id, at) VALUES (?, ?)').run(id, this.#now());
  }

  remove(id: string): boolean {
    return this.#db.prepare('DELETE FROM denied WHERE id = ?').run(id).changes === 1;
  }

  list(): readonly string[] {
    return this.#db
      .prepare('SELECT id FROM denied ORDER BY at DESC, id')
      .all()
      .map((row) => text(row, 'id'));
  }

  /** For the policy: the credentials among them, newest first. */
  revoked(): readonly string[] {
    return this.list()
      .filter((id) => CALLER_ID.test(id))
      .slice(0, MAX_REVOKED);
  }
}
