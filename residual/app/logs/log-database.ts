import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { messageOf } from '../../../shared/errors.ts';
import { isDamage, setAside } from '../../../shared/files/damaged-database.ts';
import { ownDatabase } from '../../../shared/files/own-database.ts';
import type { Telling } from './telling.ts';

const VERSION = 1;
/** Index into LOG_LEVELS: warnings and errors are few, and asked for most. */
export const GRAVE_LEVEL = 3;
/** Short, because it holds the process. */
const BUSY_MS = 250;

const SCHEMA = `
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, started_us INTEGER NOT NULL, ended_us INTEGER, reason TEXT, meta TEXT
);
CREATE TABLE logs (
  id INTEGER PRIMARY KEY, ts_us INTEGER NOT NULL, session INTEGER, source TEXT NOT NULL, level INTEGER NOT NULL,
  msg TEXT NOT NULL, fields TEXT
);
CREATE VIRTUAL TABLE logs_fts USING fts5 (msg, content = 'logs', content_rowid = 'id');
CREATE TRIGGER logs_ai AFTER INSERT ON logs BEGIN
  INSERT INTO logs_fts (rowid, msg) VALUES (new.id, new.msg);
END;
CREATE TRIGGER logs_ad AFTER DELETE ON logs BEGIN
  INSERT INTO logs_fts (logs_fts, rowid, msg) VALUES ('delete', old.id, old.msg);
END;
CREATE TABLE events (
  id INTEGER PRIMARY KEY, ts_us INTEGER NOT NULL, session INTEGER, kind TEXT NOT NULL, source TEXT NOT NULL,
  severity INTEGER NOT NULL, detail TEXT
);
CREATE INDEX events_ts ON events (ts_us);
CREATE TABLE metric_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE metrics (
  metric INTEGER NOT NULL, ts_us INTEGER NOT NULL, value REAL NOT NULL, session INTEGER,
  PRIMARY KEY (metric, ts_us)
) WITHOUT ROWID;
CREATE TABLE shippers (id TEXT PRIMARY KEY, last_seq INTEGER NOT NULL, seen_us INTEGER NOT NULL);
PRAGMA user_version = ${VERSION};
`;

/**
 * What queries of the logs read, and nothing else of a record that they do not answer with: the conditions stand behind the order of
 * writing, which no clock changes. A
 * store of before gets them when it is opened, once, at about a second for a million records; an older version of the node reads
 * them too.
 */
const INDEXES = `
CREATE INDEX IF NOT EXISTS events_by_session ON events (session, kind);
CREATE INDEX IF NOT EXISTS logs_in_order ON logs (id, ts_us, session, level);
CREATE INDEX IF NOT EXISTS logs_of_source ON logs (source, id, ts_us, session, level);
CREATE INDEX IF NOT EXISTS logs_grave_in_order ON logs (id, ts_us, level, source, session) WHERE level >= ${GRAVE_LEVEL};
CREATE INDEX IF NOT EXISTS logs_of_session ON logs (session);
DROP INDEX IF EXISTS logs_ts;
DROP INDEX IF EXISTS logs_source_ts;
DROP INDEX IF EXISTS logs_by_time;
DROP INDEX IF EXISTS logs_by_source;
DROP INDEX IF EXISTS logs_grave;
`;

/**
 * Values by time: those of one moment are beside each other, and new ones at the end, so that a batch writes a page or two. Up to
 * 1.0 they went to `metrics`, a page for each metric and second; it is still read, and its rows go with their age. The version is
 * the same, because the one before can still use the file.
 */
const SAMPLES = `
CREATE TABLE IF NOT EXISTS samples (
  ts_us INTEGER NOT NULL, metric INTEGER NOT NULL, value REAL NOT NULL, session INTEGER,
  PRIMARY KEY (ts_us, metric)
) WITHOUT ROWID;
`;

/**
 * How far each table was at a moment of the time that the store has lived, so that age is counted by arrival: a clock that was ahead or
 * behind neither makes records old nor keeps them.
 */
const ARRIVALS = `
CREATE TABLE IF NOT EXISTS arrivals (
  lived_us INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, uptime_us INTEGER NOT NULL, wall_us INTEGER NOT NULL,
  logs INTEGER NOT NULL, events INTEGER NOT NULL, sessions INTEGER NOT NULL
);
`;

/** The open database, and the file that it replaced. */
interface OpenDatabase {
  readonly db: DatabaseSync;
  /** New path of an unusable file that was moved away; null if there was none. */
  readonly setAside: string | null;
}

/**
 * Opens the one database of logs, events and metrics: WAL, synchronous NORMAL (a power cut may lose what the kernel has not
 * written yet, which it does within about half a minute; never the file). A damaged file, or one of another version, is moved away and a new one created: it is more important that new logs can
 * be written than that old ones can be queried. With any other error (a full disk, a lock, no permission) the file stays.
 * @throws Error the system's or SQLite's own; it may pass
 */
export function openLogDatabase(path: string, nowMs: number, log: Telling): OpenDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  try {
    return { db: open(path), setAside: null };
  } catch (error) {
    if (!(error instanceof WrongVersion) && !isDamage(error)) throw error;
    const aside = setAside(path, nowMs);
    log.error(`log store ${path}: ${messageOf(error)}; set aside as ${aside}`);
    return { db: open(path), setAside: aside };
  }
}

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(ownDatabase(path), { timeout: BUSY_MS });
  try {
    // Must be set before the first table is created.
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 8388608; PRAGMA cache_size = -8192;');
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version === 0) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    else if (version < VERSION || (version > VERSION && !hasOurs(db)))
      throw new WrongVersion(`is of version ${version}, not ${VERSION}`);
    db.exec(INDEXES);
    db.exec(SAMPLES);
    db.exec(ARRIVALS);
    // Reading the first row of each table finds damage without reading a whole large file.
    for (const table of [
      'sessions',
      'logs',
      'events',
      'metrics',
      'samples',
      'metric_names',
      'shippers',
      'arrivals',
    ])
      db.prepare(`SELECT * FROM ${table} LIMIT 1`).get();
    db.prepare("SELECT rowid FROM logs_fts WHERE logs_fts MATCH 'x' LIMIT 1").get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Whether one of a newer version has all that this one reads, and wants nothing more of what this one writes. */
function hasOurs(db: DatabaseSync): boolean {
  const ours = new DatabaseSync(':memory:');
  try {
    ours.exec(SCHEMA);
    return ours
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'logs_fts_%'")
      .all()
      .every(({ name }) => {
        const known = new Set(columnsOf(ours, name).map((column) => column['name']));
        const there = columnsOf(db, name);
        const names = new Set(there.map((column) => column['name']));
        return (
          [...known].every((column) => names.has(column)) &&
          there.every(
            ({ name: column, notnull, dflt_value: value }) =>
              known.has(column) || notnull === 0 || value !== null,
          )
        );
      });
  } finally {
    ours.close();
  }
}

function columnsOf(db: DatabaseSync, table: SQLOutputValue | undefined) {
  return db.prepare('SELECT name, "notnull", dflt_value FROM pragma_table_info(?)').all(String(table));
}

class WrongVersion extends Error {}
