import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const VERSION = 1;
/** Another process writes too: `svc-hub operator`, a backup. */
const BUSY_MS = 5000;
const RESTORE =
  'The hub does not make another: ended credentials would count again. Put a backup in its place, without hub.db-wal and hub.db-shm beside it (docs/fleet.md, "Backup and restore").';

const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE operators (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL, scopes TEXT NOT NULL, nodes TEXT, made_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE credentials (
  id TEXT PRIMARY KEY, label TEXT NOT NULL, hash BLOB NOT NULL, operator TEXT NOT NULL, scopes TEXT NOT NULL, nodes TEXT,
  key TEXT, made_at INTEGER NOT NULL, used_at INTEGER
) WITHOUT ROWID;
CREATE TABLE codes (
  hash BLOB PRIMARY KEY, nodes TEXT, made_by TEXT NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER
) WITHOUT ROWID;
CREATE TABLE nodes (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, profile TEXT NOT NULL, version TEXT NOT NULL, enrolled_at INTEGER NOT NULL,
  key TEXT NOT NULL, seen_at INTEGER, status TEXT, alarm TEXT
) WITHOUT ROWID;
CREATE TABLE denied (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE renewals (node TEXT NOT NULL, jti TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (node, jti)) WITHOUT ROWID;
CREATE TABLE events (
  id INTEGER PRIMARY KEY, node TEXT NOT NULL, stream TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
  received_at INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL, UNIQUE (node, stream, seq)
);
CREATE INDEX events_node ON events (node, id);
CREATE TABLE streams (
  node TEXT NOT NULL, stream TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (node, stream)
) WITHOUT ROWID;
PRAGMA user_version = ${VERSION};
`;

/**
 * Makes the database of a new hub, or goes on with that of an attempt that was cut off. Only `init` does: a hub that made one anew
 * would have forgotten who was ended, and who may sign in.
 * @throws Error SQLite's own, or for a file of another version
 */
export function makeHubDatabase(path: string): DatabaseSync {
  return opened(path, (db) => {
    if (versionOf(db) === 0) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
  });
}

/**
 * The database of a hub that is there. FULL: what a node was told is stored, it deletes; a power cut must not take it back.
 * @throws Error SQLite's own; for a file of another version; for one that is missing or empty, with the way to restore it
 */
export function openHubDatabase(path: string): DatabaseSync {
  // Looked at before SQLite is: beside an empty file it deletes the log, in which the whole database may be.
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Error(`${path} is missing. ${RESTORE}`);
  if (size === 0) throw new Error(`${path} is empty. ${RESTORE}`);
  return opened(path, (db) => {
    // A hub always has an operator: the first is made with it, and the last cannot be removed.
    if (versionOf(db) === 0 || db.prepare('SELECT 1 FROM operators LIMIT 1').get() === undefined)
      throw new Error(`${path} has nobody in it. ${RESTORE}`);
  });
}

function opened(path: string, check: (db: DatabaseSync) => void): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    check(db);
    const version = versionOf(db);
    if (version !== VERSION) throw new Error(`${path} is of version ${version}, not ${VERSION}`);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 8388608;');
    db.exec('PRAGMA cache_size = -4096;');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
}
