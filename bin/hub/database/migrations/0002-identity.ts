import type { Kysely } from 'kysely';

/** Several hubs may have one database: they have to be of one fleet, with the same keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('identity')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();
}
