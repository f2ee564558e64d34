import { createHash } from 'node:crypto';
import { lchown, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Systemd's range for users that exist only while they run something (systemd.exec(5), DynamicUser). */
const FIRST = 61_184;
const LAST = 65_519;

/**
 * The user and group of an extension's processes where the node runs as root. It is always the same one, so that its data stay
 * its own. Two extensions with the same user are still apart: by their namespaces and what is mounted in them.
 */
export function userOf(id: string): number {
  return FIRST + (createHash('sha256').update(id).digest().readUInt32BE() % (LAST - FIRST + 1));
}

/** Gives a folder and what is in it to that user. Links are changed themselves, never what they point to. */
export async function giveTo(user: number, folder: string): Promise<void> {
  await lchown(folder, user, user);
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(join(folder, entry), user, user);
}

/** Whether any user may read the file, or list and enter the folder. */
export async function openToAll(path: string): Promise<boolean> {
  const stats = await stat(path);
  const needed = stats.isDirectory() ? 0o005 : 0o004;
  return (stats.mode & needed) === needed;
}
