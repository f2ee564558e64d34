import type { Kysely } from 'kysely';
import { columnTypes } from '../column-types.ts';

/** What nodes have uploaded, so that flights have links; and the oldest flights are found without reading the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { int } = columnTypes(db);
  await db.schema
    .createTable('uploads')
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('bytes', int, (c) => c.notNull())
    .addColumn('logged_at', int)
    .addColumn('received_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('uploads_key', ['node', 'kind', 'name'])
    .execute();
  await db.schema.createIndex('uploads_received').on('uploads').columns(['received_at']).execute();
  await db.schema.createIndex('flights_received').on('flights').columns(['received_at']).execute();
}
