import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` in one transaction: all of it is stored, or nothing. @throws what `work` throws, and SQLite's own error */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK'); // a full disk has rolled it back already
    throw error;
  }
}
