import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { type PublicKey, parsePublicKey } from '../../../shared/update/minisign.ts';
import { UpdateRefusal } from '../../../shared/update/refusal.ts';

const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.pub$/;
const MAX_KEYS = 32;
const MAX_BYTES = 1024;
const WRITABLE_BY_OTHERS = 0o022;

interface UpdateKeys {
  readonly keys: readonly PublicKey[];
  /** A sentence for each file that does not count; it takes none of the others' right. */
  readonly problems: readonly string[];
}

/**
 * The keys that may sign bundles. The folder lies in one that the node's user may write: a folder or file that is not root's was
 * put there by somebody else, and does not count.
 * @throws UpdateRefusal for the folder; the file system's error
 */
export async function readUpdateKeys(folder: string): Promise<UpdateKeys> {
  return inFolder(folder, async (at) => {
    const names = (await readdir(at)).filter((name) => KEY_NAME.test(name)).toSorted();
    const keys: PublicKey[] = [];
    const problems: string[] = [];
    for (const name of names.slice(0, MAX_KEYS)) {
      const shown = join(folder, name);
      try {
        keys.push(await readKey(join(at, name), shown));
      } catch (error) {
        problems.push(
          error instanceof UpdateRefusal
            ? error.message
            : `${shown} is no key of minisign: ${messageOf(error)}`,
        );
      }
    }
    return { keys, problems };
  });
}

async function readKey(file: string, shown: string): Promise<PublicKey> {
  // A pipe would keep the updater waiting.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await refuseForeign(handle, shown, 'isFile');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return parsePublicKey(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Adds keys, by file name. @throws UpdateRefusal for one that is none; the file system's error */
export async function addUpdateKeys(folder: string, keys: Readonly<Record<string, string>>): Promise<void> {
  checkNewKeys(keys);
  if (Object.keys(keys).length === 0) return;
  await inFolder(folder, async (at) => {
    for (const [name, text] of Object.entries(keys)) await writeAtomic(join(at, name), text, 0o644);
  });
}

/** @throws UpdateRefusal */
export function checkNewKeys(keys: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(keys)) {
    try {
      if (!KEY_NAME.test(name)) throw new Error('Its name is no name of a key.');
      parsePublicKey(text);
    } catch (error) {
      throw new UpdateRefusal(`The bundle is refused: its new key ${JSON.stringify(name)} is none.`, {
        cause: error,
      });
    }
  }
}

/** The folder by its descriptor, so that it stays the one that was checked. */
async function inFolder<T>(folder: string, work: (at: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new UpdateRefusal(`This node knows no key that may sign updates: there is no ${folder}.`, {
        cause: error,
      });
    },
  );
  try {
    await refuseForeign(handle, folder, 'isDirectory');
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

async function refuseForeign(
  handle: FileHandle,
  name: string,
  kind: 'isFile' | 'isDirectory',
): Promise<void> {
  const found = await handle.stat();
  if (!found[kind]() || found.uid !== process.getuid?.() || (found.mode & WRITABLE_BY_OTHERS) !== 0)
    throw new UpdateRefusal(
      `${name} is not root's alone, so ${kind === 'isFile' ? 'it is' : 'the keys in it are'} not believed.`,
    );
}
