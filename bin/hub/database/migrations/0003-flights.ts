import type { Kysely } from 'kysely';
import { columnTypes } from '../column-types.ts';

/** Flights that nodes have told, their sums, and the maintenance that operators have noted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { int, rowId } = columnTypes(db);
  const real = 'double precision';
  await db.schema
    .createTable('flights')
    .addColumn('id', rowId.type, rowId.column)
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('flight', 'text', (c) => c.notNull())
    .addColumn('received_at', int, (c) => c.notNull())
    .addColumn('started_at', int, (c) => c.notNull())
    .addColumn('ended_at', int, (c) => c.notNull())
    .addColumn('armed_s', real, (c) => c.notNull())
    .addColumn('airborne_s', real)
    .addColumn('distance_m', real)
    .addColumn('max_height_m', real)
    .addColumn('max_speed_ms', real)
    .addColumn('battery', 'text')
    .addColumn('used_mah', real)
    .addColumn('start_v', real)
    .addColumn('end_v', real)
    .addColumn('pilots', 'text', (c) => c.notNull())
    .addColumn('findings', int, (c) => c.notNull())
    .addColumn('worst', 'text')
    .addColumn('detail', 'text', (c) => c.notNull())
    .addUniqueConstraint('flights_once', ['node', 'flight'])
    .execute();
  await db.schema.createIndex('flights_started').on('flights').columns(['started_at', 'id']).execute();
  await db.schema.createIndex('flights_node').on('flights').columns(['node', 'started_at', 'id']).execute();
  await db.schema
    .createTable('flight_tracks')
    .addColumn('id', int, (c) => c.primaryKey())
    .addColumn('track', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('flight_sums')
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('battery', 'text', (c) => c.notNull())
    .addColumn('flights', int, (c) => c.notNull())
    .addColumn('armed_s', real, (c) => c.notNull())
    .addColumn('airborne_s', real, (c) => c.notNull())
    .addColumn('distance_m', real, (c) => c.notNull())
    .addColumn('first_at', int, (c) => c.notNull())
    .addColumn('last_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('flight_sums_key', ['node', 'battery'])
    .execute();
  await db.schema
    .createTable('maintenance')
    .addColumn('node', 'text', (c) => c.notNull())
    .addColumn('battery', 'text', (c) => c.notNull())
    .addColumn('rule', 'text', (c) => c.notNull())
    .addColumn('done_at', int, (c) => c.notNull())
    .addColumn('done_by', 'text', (c) => c.notNull())
    .addColumn('note', 'text', (c) => c.notNull())
    .addColumn('flights', int, (c) => c.notNull())
    .addColumn('armed_s', real, (c) => c.notNull())
    .addPrimaryKeyConstraint('maintenance_key', ['node', 'battery', 'rule'])
    .execute();
}
