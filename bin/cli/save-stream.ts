import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Writes what comes under another name until it is complete. @returns bytes. @throws what it fails with; then there is no file */
export async function saveStream(source: AsyncIterable<Buffer>, output: string): Promise<number> {
  const part = `${output}.part`;
  const file = createWriteStream(part);
  try {
    await pipeline(Readable.from(source), file);
    await rename(part, output);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return file.bytesWritten;
}
