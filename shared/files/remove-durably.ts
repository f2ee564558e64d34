import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Removes a file so that it stays gone after a power cut; one that is not there is no error. @throws the file system's own error */
export async function removeDurably(file: string): Promise<void> {
  await rm(file, { force: true });
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
