import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const MAX_BYTES = 64 * 1024;

/**
 * The text of a file that only this service may read, null where there is none.
 * @throws Error saying what is wrong with it: a link, no plain file, a second name, more than 64 KiB, readable by others,
 *   or the file system's own error
 */
export async function readPrivate(file: string): Promise<string | null> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    // NONBLOCK: opening a pipe that somebody put in its place must not wait for a writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new Error(`${file} is a symbolic link`, { cause: error });
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.nlink > 1 || stat.size > MAX_BYTES)
      throw new Error(`${file} is not a plain file of at most ${MAX_BYTES} bytes with one name`);
    if ((stat.mode & 0o077) !== 0) throw new Error(`${file} is open to others than its owner; chmod 600 it`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
