import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, messageOf } from '../errors.ts';

/** With a link at this path, another user could choose the file that we write, or keep a second name for it. */
async function refuseLinks(path: string): Promise<void> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stat !== null && (!stat.isFile() || stat.nlink > 1))
    throw new Error(`${path} is not a plain file and is not overwritten`);
}

/**
 * Replaces `path` so that after a power cut it has either the old or the new content, never a mix. Writes a sibling with
 * `mode`, syncs it, renames it, syncs the directory.
 * @param owner the owner of the new file; by default the user of this process
 * @throws the file system's own error; the old content is then always still in place. A failure after the rename (the sync of
 *   the directory) is only a warning, since callers report an error as "nothing was changed"
 */
export async function writeAtomic(
  path: string,
  content: string | Buffer,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  await fillAtomic(path, async (handle) => handle.writeFile(content), mode, owner);
}

/** As `writeAtomic`, with the content that `fill` writes; what it throws leaves the old content in place. */
export async function fillAtomic(
  path: string,
  fill: (handle: FileHandle) => Promise<void>,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  await refuseLinks(path);
  const directory = dirname(path);
  const temporary = join(directory, temporaryName(basename(path)));
  const folder = await open(directory, 'r'); // first, because opening may fail too
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      try {
        if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
        await handle.chmod(mode); // independent of the umask
        await fill(handle);
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
      throw ofTarget(error, temporary, path);
    }
    // A directory entry is durable only after its directory was synced.
    await folder.sync().catch((error: unknown) => {
      process.emitWarning(`${path} is written, but a power cut may undo it: ${messageOf(error)}`);
    });
  } finally {
    await folder.close();
  }
}

/** The error with the name of the file that was to be written: nobody knows the temporary one. */
function ofTarget(error: unknown, temporary: string, path: string): unknown {
  // The kernel replaces no file that something is mounted on, as containers do with one file of the host.
  if (codeOf(error) === 'EBUSY')
    return new Error(
      `${path} is mounted by itself and cannot be replaced (EBUSY). Mount the folder that it is in instead`,
      {
        cause: error,
      },
    );
  return error instanceof Error && 'path' in error && error.path === temporary
    ? Object.assign(error, { path })
    : error;
}

/** `.name.pid-random.tmp`; sweepTemporary needs the process id. */
function temporaryName(name: string): string {
  return `.${name}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

const TEMPORARY = /^\..+\.(?:(\d+)-)?[0-9a-f]{12}\.tmp$/;
/** No write takes this long. Files without a process id, or with one that is in use again, are removed after this age. */
const STALE_MS = 10 * 60_000;

/**
 * Removes temporary files that `writeAtomic` of a killed process left in these folders; they may have copies of secrets. Never
 * throws: failures are passed to `onProblem`.
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
      const code = codeOf(error);
      if (code !== 'ENOENT') onProblem(`cannot sweep ${directory}: ${messageOf(error)}`);
    }
  }
}

/** Another process may be writing now; this process starts to write after the sweep. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
