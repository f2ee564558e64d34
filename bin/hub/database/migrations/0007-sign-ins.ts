import type { Kysely } from 'kysely';
import { columnTypes } from '../column-types.ts';

/** People who have signed in at a provider: each time is a credential of its own, which ends by itself. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { int, bytes } = columnTypes(db);
  await db.schema
    .createTable('sign_ins')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('hash', bytes, (c) => c.notNull())
    .addColumn('state', bytes, (c) => c.notNull().unique())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('group_name', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('nodes', 'text')
    .addColumn('tags', 'text', (c) => c.notNull())
    .addColumn('made_at', int, (c) => c.notNull())
    .addColumn('expires_at', int, (c) => c.notNull())
    .addColumn('ended_at', int)
    .execute();
  await db.schema.createIndex('sign_ins_expires').on('sign_ins').columns(['expires_at']).execute();
}
