import type { Kysely } from 'kysely';

/** Who has what ends with the holder's session, by no clock: replicas/locks.ts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('leases').dropColumn('until').execute();
}
