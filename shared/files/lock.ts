import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../errors.ts';
import { memberOf } from '../member.ts';

const RETRY_MS = 5;
const TIMEOUT_MS = 5000;
// SQLITE_BUSY
const BUSY = 5;

/**
 * Runs `work` while holding the lock `path`, which only one caller in all processes can hold. `path` is a separate, empty file
 * beside the file that it protects.
 *
 * The lock is SQLite's exclusive file lock: Node has no flock(), and a lock file made with O_EXCL survives a power cut; two
 * processes could then remove it as stale at once. The kernel releases this lock with its process.
 * @throws Error when the lock is not free within 5 s or its file cannot be made; else what `work` throws
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await makeLockFile(path);
  // Loaded on demand: only few processes write.
  const { DatabaseSync } = await import('node:sqlite');
  // Not made here: SQLite works in this thread, and on a disk that stands still a file that may be made holds who opens it.
  const there = pathToFileURL(path);
  there.searchParams.set('mode', 'rw');
  const database = new DatabaseSync(there, { timeout: 0 });
  try {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      try {
        database.exec('PRAGMA journal_mode = MEMORY'); // no journal file beside an empty database
        database.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if (memberOf(error, 'errcode') !== BUSY) throw error;
        if (performance.now() > deadline)
          throw new Error(`${path} was locked by another process for ${TIMEOUT_MS} ms`, { cause: error });
      }
      await delay(RETRY_MS * (1 + Math.random()));
    }
    return await work();
  } finally {
    database.close();
  }
}

/**
 * Private, since everybody who can read the file can hold the lock. If root creates it, the service's user becomes the owner.
 * An existing file is not opened: closing any descriptor of it would release a lock that this process holds.
 */
async function makeLockFile(path: string): Promise<void> {
  try {
    const found = await lstat(path).catch(absent);
    if (found !== null) {
      if (!found.isFile()) throw new Error('it is not a plain file');
      return;
    }
    const handle = await open(path, 'wx', 0o600).catch(taken);
    if (handle === null) return;
    try {
      const { uid, gid } = await stat(dirname(path));
      if (process.getuid?.() === 0 && uid !== 0) await handle.chown(uid, gid);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new Error(`cannot make the lock ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Null if another process created it first. */
function taken(error: NodeJS.ErrnoException): null {
  if (error.code === 'EEXIST') return null;
  throw error;
}
