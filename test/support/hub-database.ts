import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import * as hub from '../../bin/hub/database/migrations/0001-hub.ts';
import { openPostgres } from '../../bin/hub/database/postgres.ts';
import { migrate } from '../../bin/hub/database/schema.ts';
import { makeSqlite } from '../../bin/hub/database/sqlite.ts';
import type { Engine, HubDatabase } from '../../bin/hub/database/tables.ts';
import { noPostgres, Postgres } from './postgres.ts';
import { removeDir, tempDir } from './temp.ts';

/** The engines that a hub's database may have, and why one cannot be had here; null where it can. */
export const ENGINES: readonly { readonly engine: Engine; readonly missing: string | null }[] = [
  { engine: 'sqlite', missing: null },
  { engine: 'postgres', missing: noPostgres() },
];

/** A hub's database as version 1.0 had it: its tables, its operators, and nothing that says which migrations there were. */
export async function undoMigrations({ queries }: HubDatabase): Promise<void> {
  const operators = await queries
    .selectFrom('operators')
    .select(['id', 'name', 'hash', 'scopes', 'nodes', 'made_at'])
    .execute();
  const tables = await queries.introspection.getTables({ withInternalKyselyTables: true });
  for (const { name } of tables)
    if (name !== 'sqlite_sequence') await queries.schema.dropTable(name).execute();
  await hub.up(queries as Kysely<unknown>);
  await queries.insertInto('operators').values(operators).execute();
}

/** Databases of one engine, one after the other, each of its own. */
export class Databases {
  readonly #folder: string;
  readonly postgres: Postgres | null;
  #made = 0;

  private constructor(folder: string, postgres: Postgres | null) {
    this.#folder = folder;
    this.postgres = postgres;
  }

  static async of(engine: Engine): Promise<Databases> {
    return new Databases(await tempDir(), engine === 'sqlite' ? null : await Postgres.start());
  }

  /** A new one with all tables. */
  async open(): Promise<HubDatabase> {
    const database =
      this.postgres === null
        ? makeSqlite(join(this.#folder, `${++this.#made}.db`))
        : openPostgres({
            url: await this.postgres.database(),
            passwordFile: await this.passwordFile(),
            onProblem: () => undefined,
          });
    await migrate(database);
    return database;
  }

  /** For `svc-hub init`, with a new database; none for SQLite, which is in the hub's own folder. */
  async flags(): Promise<readonly string[]> {
    if (this.postgres === null) return [];
    const url = await this.postgres.database();
    return ['--database', url, '--database-password-file', await this.passwordFile()];
  }

  async passwordFile(word = this.postgres?.password ?? ''): Promise<string> {
    const file = join(this.#folder, `password-${++this.#made}`);
    await writeFile(file, `${word}\n`, { mode: 0o600 });
    return file;
  }

  async end(): Promise<void> {
    await this.postgres?.remove();
    await removeDir(this.#folder);
  }
}
