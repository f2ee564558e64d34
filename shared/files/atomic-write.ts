import { randomBytes } from 'node:crypto';
import { lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';

/** A link at the place would let somebody else choose which file we write, or keep a second name for it. */
async function refuseLinks(path: string): Promise<void> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stat !== null && (!stat.isFile() || stat.nlink > 1))
    throw new Error(`${path} is not a plain file; it is not written`);
}

/**
 * Replaces `path` so that after a power cut at any moment it holds the old or the new content, never a part of either.
 * Writes a sibling with `mode`, syncs it, renames it, syncs the directory.
 * @param owner who shall own the new file; without it, whoever writes
 * @throws the file system's own error; the old content is then still in place, always: what fails once the new one has taken
 *   its place (the sync of the directory) is a warning, for a caller who is told of an error says that nothing was changed
 */
export async function writeAtomic(
  path: string,
  content: string | Buffer,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  await refuseLinks(path);
  const directory = dirname(path);
  const temporary = join(directory, temporaryName(basename(path)));
  const folder = await open(directory, 'r'); // first: opening may fail too
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      try {
        if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
        await handle.chmod(mode); // the process's umask must not decide
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch((cleanup: NodeJS.ErrnoException) => {
        if (cleanup.code !== 'ENOENT')
          throw new AggregateError([error, cleanup], `cannot write ${path}`, { cause: error });
      });
      throw error;
    }
    // A directory entry is durable only once its directory was synced.
    await folder.sync().catch((error: unknown) => {
      process.emitWarning(`${path} is written, but a power cut may undo it: ${messageOf(error)}`);
    });
  } finally {
    await folder.close();
  }
}

/** `.name.pid-random.tmp`: whose it is, for sweepTemporary. */
function temporaryName(name: string): string {
  return `.${name}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

const TEMPORARY = /^\..+\.(?:(\d+)-)?[0-9a-f]{12}\.tmp$/;
/** No write takes so long; a name without a process id, or with that of another process by now, is judged by it. */
const STALE_MS = 10 * 60_000;

/**
 * Removes what `writeAtomic` of a process that was killed left in these folders; of a token store it would be a copy of the
 * secrets. Never throws: what cannot be removed is told.
 * @param now wall clock, ms
 */
export async function sweepTemporary(
  directories: readonly string[],
  now: number,
  onProblem: (sentence: string) => void,
): Promise<void> {
  for (const directory of directories) {
    try {
      for (const name of await readdir(directory)) {
        const match = TEMPORARY.exec(name);
        if (match === null) continue;
        const path = join(directory, name);
        const stat = await lstat(path);
        const isOld = Math.abs(now - stat.mtimeMs) > STALE_MS;
        if (stat.isFile() && (isOld || (match[1] !== undefined && !isAlive(Number(match[1])))))
          await unlink(path);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') onProblem(`cannot sweep ${directory}: ${messageOf(error)}`);
    }
  }
}

/** Another process may be in the middle of a write; this one begins its own after the sweep. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
