import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import type { HubDatabase, Tables } from './tables.ts';

/** Another process writes too: `svc-hub operator`, a backup. */
const BUSY_MS = 5000;
const RESTORE =
  'The hub does not make another: ended credentials would count again. Put a backup in its place, without hub.db-wal and hub.db-shm beside it (docs/fleet.md, "Backup and restore").';

/**
 * The file of a new hub, or that of an attempt that was cut off. Only `init` asks for it: a hub that made one anew would have
 * forgotten who was ended, and who may sign in.
 * @throws Error SQLite's own
 */
export function makeSqlite(path: string): HubDatabase {
  return opened(path);
}

/** @throws Error SQLite's own; for a file that is missing or empty, with the way to restore it */
export function openSqlite(path: string): HubDatabase {
  // Looked at before SQLite is: beside an empty file it deletes the log, in which the whole database may be.
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Error(`${path} is missing. ${RESTORE}`);
  if (size === 0) throw new Error(`${path} is empty. ${RESTORE}`);
  return opened(path);
}

/** FULL: what a node was told is stored, it deletes; a power cut must not take it back. */
function opened(path: string): HubDatabase {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 8388608;');
    db.exec('PRAGMA cache_size = -4096;');
  } catch (error) {
    db.close();
    throw error;
  }
  const queries = new Kysely<Tables>({ dialect: new NodeSqliteDialect(db) });
  return {
    engine: 'sqlite',
    queries,
    name: path,
    session: null,
    // Not by Kysely: it closes only what it has used.
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
}

/** Kysely's dialect for better-sqlite3, on Node's own SQLite. */
class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;

  constructor(db: DatabaseSync) {
    const database = adapted(db);
    super({ database });
    this.#database = database;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver({ database: this.#database });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** A transaction that begins by reading cannot always go on to write, when another process writes. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** As SQLite's changes of tables are: a migration that is cut off has changed nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function adapted(db: DatabaseSync): SqliteDatabase {
  return {
    close: () => db.close(),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      // Kysely hands on what the tables' types allow: numbers, texts, bytes, null.
      const values = (given: readonly unknown[]) => given as readonly SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (given) => statement.all(...values(given)),
        run: (given) => statement.run(...values(given)),
        iterate: (given) => statement.iterate(...values(given)),
      };
    },
  };
}
