import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';

const RETRY_MS = 5;
const TIMEOUT_MS = 5000;
// SQLITE_BUSY
const BUSY = 5;

/**
 * Runs `work` while no other holder of `path`, in this process or another, does. `path` is a file of its own, beside what
 * it protects; it stays empty.
 *
 * The lock is SQLite's exclusive file lock: Node has no flock(), and a lock file made with O_EXCL survives a power cut and
 * then has to be judged stale, which two processes can do at once. The kernel drops this one with its process.
 * @throws Error when the lock is not free within 5 s or its file cannot be made; else what `work` throws
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await makeLockFile(path);
  // Loaded by the few processes that write, when they write.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      try {
        database.exec('PRAGMA journal_mode = MEMORY'); // no journal file beside an empty database
        database.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if ((error as { errcode?: unknown }).errcode !== BUSY) throw error;
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
 * Private, for whoever may read it may hold it; and root's command must not take it from the service's user. One that is
 * there is not opened: closing any descriptor of it would drop the lock that this process may hold on it.
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

/** Somebody else was faster. */
function taken(error: NodeJS.ErrnoException): null {
  if (error.code === 'EEXIST') return null;
  throw error;
}
