import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Queries } from './tables.ts';

export function isSqlite(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}

/** An arbitrary number for PostgreSQL's advisory locks. */
const EVENTS = 7301;

/**
 * Transactions that store events are seen in the order of their numbers, so that who asks for what came after one misses nothing:
 * PostgreSQL gives a number when a row is written, and shows the row when its transaction ends. SQLite writes one after the other
 * anyway. @param on a transaction
 */
export async function eventsInOrder(on: Queries): Promise<void> {
  if (!isSqlite(on)) await sql`SELECT pg_advisory_xact_lock(${sql.lit(EVENTS)})`.execute(on);
}
