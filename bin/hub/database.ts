import { DatabaseSync } from 'node:sqlite';

const VERSION = 1;
/** Another process writes too: `svc-hub operator`, a backup. */
const BUSY_MS = 5000;

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
 * The one database of a hub. FULL: what a node was told is stored, it deletes; a power cut must not take it back.
 * @throws Error SQLite's own, or for a file of another version
 */
export function openHubDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 8388608;');
    db.exec('PRAGMA cache_size = -4096;');
    const version = db.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version === 0) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    else if (version !== VERSION) throw new Error(`${path} is of version ${String(version)}, not ${VERSION}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
