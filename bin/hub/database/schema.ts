import { Migrator } from 'kysely/migration';
import { messageOf } from '../../../shared/errors.ts';
import * as hub from './migrations/0001-hub.ts';
import * as identity from './migrations/0002-identity.ts';
import * as flights from './migrations/0003-flights.ts';
import * as tags from './migrations/0004-tags.ts';
import * as replicas from './migrations/0006-replicas.ts';
import * as signIns from './migrations/0007-sign-ins.ts';
import * as flightFiles from './migrations/0008-flight-files.ts';
import * as locks from './migrations/0009-locks.ts';
import * as replacing from './migrations/0010-replacing-codes.ts';
import type { HubDatabase, Tables } from './tables.ts';

/** In their order. One that was released is never changed: the next one changes what it made. */
const MIGRATIONS = {
  '0001-hub': hub,
  '0002-identity': identity,
  '0003-flights': flights,
  '0004-tags': tags,
  '0006-replicas': replicas,
  '0007-sign-ins': signIns,
  '0008-flight-files': flightFiles,
  '0009-locks': locks,
  '0010-replacing-codes': replacing,
} as const;
const APPLIED = 'kysely_migration';

/** Whose rows are there from the beginning, and say nothing about the hub. */
const LEASES = 'leases' satisfies keyof Tables;

/** All other tables with their keys, in an order in which they can be filled. */
export const TABLES = [
  { name: 'meta', key: ['key'] },
  { name: 'operators', key: ['id'] },
  { name: 'credentials', key: ['id'] },
  { name: 'sign_ins', key: ['id'] },
  { name: 'codes', key: ['hash'] },
  { name: 'nodes', key: ['id'] },
  { name: 'denied', key: ['id'] },
  { name: 'renewals', key: ['node', 'jti'] },
  { name: 'events', key: ['id'] },
  { name: 'streams', key: ['node', 'stream'] },
  { name: 'identity', key: ['key'] },
  { name: 'flights', key: ['id'] },
  { name: 'flight_tracks', key: ['id'] },
  { name: 'uploads', key: ['node', 'kind', 'name'] },
  { name: 'flight_sums', key: ['node', 'battery'] },
  { name: 'maintenance', key: ['node', 'battery', 'rule'] },
] as const satisfies readonly { readonly name: keyof Tables; readonly key: readonly string[] }[];

/** @returns how many were applied now: two that do this at once apply each once @throws Error, and then nothing was changed */
export async function migrate({ queries, name }: HubDatabase): Promise<number> {
  const migrator = new Migrator({ db: queries, provider: { getMigrations: async () => MIGRATIONS } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw new Error(`${name} could not be migrated: ${messageOf(error)}`, { cause: error });
  return results.length;
}

/**
 * A hub never makes a database anew beside its configuration: ended credentials would count again.
 * @throws Error for one in which there is no hub
 */
export async function checkHub({ queries, name }: HubDatabase): Promise<void> {
  const tables = await queries.introspection.getTables();
  const isThere = tables.some((table) => table.name === ('operators' satisfies keyof Tables));
  const anybody = isThere
    ? await queries.selectFrom('operators').select('id').limit(1).executeTakeFirst()
    : undefined;
  if (anybody === undefined)
    throw new Error(
      `${name} has ${isThere ? 'nobody' : 'no hub'} in it. The hub does not make another: ended credentials would count again. Put a backup in its place (docs/fleet.md, "Backup and restore").`,
    );
}

/** Names of the migrations that this hub knows and the database has not had. */
export async function pendingIn(database: HubDatabase): Promise<readonly string[]> {
  const applied = await appliedIn(database);
  return Object.keys(MIGRATIONS).filter((each) => !applied.includes(each));
}

/** @throws Error for a database of another version of the hub */
export async function checkSchema(database: HubDatabase): Promise<void> {
  const { name } = database;
  const applied = await appliedIn(database);
  const known = Object.keys(MIGRATIONS);
  const strange = applied.filter((each) => !known.includes(each));
  if (strange.length > 0)
    throw new Error(`${name} belongs to a newer hub (it has ${strange.join(', ')}). Install that one here.`);
  const missing = await pendingIn(database);
  if (missing.length > 0)
    throw new Error(
      `${name} belongs to an older hub (it lacks ${missing.join(', ')}). Make a backup, then: svc-hub migrate`,
    );
}

/** @throws Error for one in which something else lives: a hub is made in an empty one */
export async function checkEmpty({ queries, name }: HubDatabase): Promise<void> {
  const tables = await queries.introspection.getTables({ withInternalKyselyTables: true });
  const strange = tables.filter((table) => table.name !== 'sqlite_sequence' && !isOurs(table.name));
  const [first] = strange;
  if (first !== undefined)
    throw new Error(
      `${name} belongs to another application (it has a table ${first.name}). Make an empty one.`,
    );
}

function isOurs(table: string): boolean {
  return (
    table === LEASES ||
    table === APPLIED ||
    table === `${APPLIED}_lock` ||
    TABLES.some(({ name }) => name === table)
  );
}

async function appliedIn({ queries }: HubDatabase): Promise<readonly string[]> {
  const tables = await queries.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === APPLIED)) return [];
  const rows = await queries
    .withTables<{ [APPLIED]: { name: string } }>()
    .selectFrom(APPLIED)
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}
