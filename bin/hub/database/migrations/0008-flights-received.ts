import type { Kysely } from 'kysely';

/** The oldest flights are found without reading the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('flights_received').on('flights').columns(['received_at']).execute();
}
