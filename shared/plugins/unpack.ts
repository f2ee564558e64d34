import { chmod, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface TreeFile {
  /** Relative, and already checked. */
  readonly path: string;
  readonly mode: number;
  readonly content: () => AsyncIterable<Buffer>;
}

const FOLDER_MODE = 0o755;

/**
 * Writes files below a folder, and syncs each of them and each folder, so that a rename of the folder afterwards is all or
 * nothing. Modes do not depend on the umask. What is there already is never overwritten or followed.
 */
export async function writeTree(
  folder: string,
  files: readonly TreeFile[],
  onBytes: (done: number) => void = () => undefined,
): Promise<void> {
  const made = new Set<string>();
  let done = 0;
  await makeFolder(folder, made);
  for (const { path, mode, content } of files) {
    const parts = path.split('/').slice(0, -1);
    for (const index of parts.keys()) await makeFolder(join(folder, ...parts.slice(0, index + 1)), made);
    const handle = await open(join(folder, path), 'wx', mode);
    try {
      for await (const chunk of content()) {
        await handle.writeFile(chunk);
        done += chunk.length;
        onBytes(done);
      }
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
  for (const path of [...made].sort((a, b) => b.length - a.length)) await syncFolder(path);
  await syncFolder(dirname(folder));
}

async function makeFolder(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await mkdir(path, FOLDER_MODE).catch((error: NodeJS.ErrnoException) => {
    // Only the first may be there already: the caller made it.
    if (error.code !== 'EEXIST' || made.size > 0) throw error;
  });
  await chmod(path, FOLDER_MODE);
  made.add(path);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
