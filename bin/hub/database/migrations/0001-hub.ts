import type { Kysely } from 'kysely';
import { columnTypes } from '../column-types.ts';

/** The hub of version 1.0: its SQLite files have these tables already, and nothing that says so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { int, bytes, rowId } = columnTypes(db);
  const table = (name: string) => db.schema.createTable(name).ifNotExists();
  await table('meta')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('value', int, (c) => c.notNull())
    .execute();
  await table('operators')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hash', bytes, (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('nodes', 'text')
    .addColumn('made_at', int, (c) => c.notNull())
    .execute();
  await table('credentials')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('hash', bytes, (c) => c.notNull())
    .addColumn('operator', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('nodes', 'text')
    .addColumn('key', 'text')
    .addColumn('made_at', int, (c) => c.notNull())
    .addColumn('used_at', int)
    .execute();
  await table('codes')
    .addColumn('hash', bytes, (c) => c.primaryKey())
    .addColumn('nodes', 'text')
    .addColumn('made_by', 'text', (c) => c.notNull())
    .addColumn('expires_at', int, (c) => c.notNull())
    .addColumn('used_at', int)
    .execute();
  await table('nodes')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('profile', 'text', (c) => c.notNull())
    .addColumn('version', 'text', (c) => c.notNull())
    .addColumn('enrolled_at', int, (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('seen_at', int)
    .addColumn('status', 'text')
    .addColumn('alarm', 'text')
    .execute();
  await table('denied')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('at', int, (c) => c.notNull())
    .execute();
  await table('renewals')
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('jti', 'text', (c) => c.notNull())
    .addColumn('at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('renewals_key', ['node', 'jti'])
    .execute();
  await table('events')
    .addColumn('id', rowId.type, rowId.column)
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('seq', int, (c) => c.notNull())
    .addColumn('at', int, (c) => c.notNull())
    .addColumn('received_at', int, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .addUniqueConstraint('events_once', ['node', 'stream', 'seq'])
    .execute();
  await db.schema.createIndex('events_node').ifNotExists().on('events').columns(['node', 'id']).execute();
  await table('streams')
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('seq', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('streams_key', ['node', 'stream'])
    .execute();
}
