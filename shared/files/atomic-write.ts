import { randomBytes } from 'node:crypto';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A directory entry is durable only once its directory was synced. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

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
 * @throws the file system's own error; the old content is then still in place
 */
export async function writeAtomic(
  path: string,
  content: string | Buffer,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): Promise<void> {
  await refuseLinks(path);
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
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
  await syncDirectory(directory);
}
