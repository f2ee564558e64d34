import type { Kysely } from 'kysely';
import { columnTypes } from '../column-types.ts';

/** As many partitions as the nodes are divided into, and replicas of one hub; both are never fewer in what is released. */
const PARTITIONS = 64;
const REPLICAS = 9;

/** Several hubs at work on one database: what each of them alone may have, and by which number the others notice a change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { int } = columnTypes(db);
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text')
    .addColumn('fence', int, (c) => c.notNull())
    .addColumn('until', int, (c) => c.notNull())
    .execute();
  const names = [
    'upkeep',
    ...Array.from({ length: REPLICAS }, (_, n) => `replica-${n + 1}`),
    ...Array.from({ length: PARTITIONS }, (_, n) => `part-${String(n).padStart(2, '0')}`),
  ];
  await db
    .withTables<Leased>()
    .insertInto('leases')
    .values(names.map((name) => ({ name, holder: null, fence: 0, until: 0 })))
    .execute();
  const table = (name: 'nodes' | 'denied') => db.schema.alterTable(name);
  await table('nodes')
    .addColumn('online', int, (c) => c.notNull().defaultTo(0))
    .execute();
  await table('nodes').addColumn('status_at', int).execute();
  await table('nodes')
    .addColumn('rev', int, (c) => c.notNull().defaultTo(0))
    .execute();
  await table('denied')
    .addColumn('rev', int, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.createIndex('nodes_rev').on('nodes').columns(['rev', 'id']).execute();
  await db.schema.createIndex('denied_rev').on('denied').columns(['rev', 'id']).execute();
}

type Leased = {
  readonly leases: { name: string; holder: string | null; fence: number; until: number };
};
