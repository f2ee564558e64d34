import type { Kysely } from 'kysely';

/** A code that was made for one node that is enrolled already: no other takes its place. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('codes').addColumn('replaces', 'text').execute();
}
