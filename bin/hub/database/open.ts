import { resolve } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import type { HubConfig } from '../config.ts';
import type { HubPlaces } from '../places.ts';
import { openPostgres, pooled, refusePooler } from './postgres.ts';
import { checkHub, checkSchema } from './schema.ts';
import { makeSqlite, openSqlite } from './sqlite.ts';
import type { HubDatabase } from './tables.ts';

type DatabaseConfig = Pick<HubConfig, 'database' | 'database_password_file'>;
type OnProblem = (problem: Error) => void;

/** For `init` alone: where there is no file yet, it is made. */
export function makeDatabase(places: HubPlaces, wanted: DatabaseConfig): HubDatabase {
  return wanted.database === 'sqlite'
    ? makeSqlite(places.database)
    : postgres(places, wanted, () => undefined);
}

/** The database of a hub that is there, whatever its version. @throws Error where it is missing, empty or away */
export async function openAnyDatabase(
  places: HubPlaces,
  wanted: DatabaseConfig,
  onProblem: OnProblem,
): Promise<HubDatabase> {
  const database =
    wanted.database === 'sqlite' ? openSqlite(places.database) : postgres(places, wanted, onProblem);
  return checked(database, checkHub);
}

/** As above. @throws Error also for one of another version */
export async function openDatabase(
  places: HubPlaces,
  wanted: DatabaseConfig,
  onProblem: OnProblem,
): Promise<HubDatabase> {
  return checked(await openAnyDatabase(places, wanted, onProblem), async (database) => {
    await checkSchema(database);
    await refusePooler(database);
  });
}

async function checked(
  database: HubDatabase,
  check: (database: HubDatabase) => Promise<void>,
): Promise<HubDatabase> {
  try {
    await check(database);
    return database;
  } catch (error) {
    await database.close();
    // PgBouncer takes few parameters of a connection.
    throw messageOf(error).startsWith('unsupported startup parameter') ? pooled(database.name) : error;
  }
}

function postgres(
  { folder }: HubPlaces,
  { database: url, database_password_file: file }: DatabaseConfig,
  onProblem: OnProblem,
): HubDatabase {
  return openPostgres({ url, passwordFile: file === null ? null : resolve(folder, file), onProblem });
}
