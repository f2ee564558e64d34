import { open } from 'node:fs/promises';
import { codeOf } from '../../shared/errors.ts';
import { type Check, fail, ok, skip } from './check.ts';

const HEADER = Buffer.from('SQLite format 3\0');

/** Checks the log store's file if no node answers; the file is only read. */
export async function logStoreFile(path: string): Promise<Check> {
  const name = 'log store';
  const file = await open(path, 'r').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return skip(name, `${path} is not there yet.`);
  try {
    const { size } = await file.stat();
    if (size === 0) return ok(name, `${path} is empty.`); // SQLite writes the header with the first page
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return bytesRead === HEADER.length && buffer.equals(HEADER)
      ? ok(name, `${path}, ${(size / 2 ** 20).toFixed(1)} MiB.`)
      : fail(
          name,
          `${path} is not a database.`,
          `Move it away; the node starts a new one: sudo mv ${path} ${path}.bad`,
        );
  } finally {
    await file.close();
  }
}
