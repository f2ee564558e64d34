import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
