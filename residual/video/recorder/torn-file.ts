import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';

// ISO/IEC 14496-12, 4.2: every box begins with its length (32 bits, its own head included) and its type.
const HEAD_BYTES = 8;

/**
 * Takes away what a full disk or a power cut left of the last box: with half a `moof` at its end, players refuse the whole file.
 * Half an `mdat` stays, its first pictures play.
 * @returns length of the file now, bytes
 */
export async function cutTornBox(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  if (size > 0) {
    await file.read(head, 0, HEAD_BYTES, 0);
    if (head.toString('latin1', 4) !== 'ftyp') return size; // no film of ours
  }
  let at = 0;
  while (at + HEAD_BYTES <= size) {
    await file.read(head, 0, HEAD_BYTES, at);
    const length = head.readUInt32BE(0);
    // A power cut may leave zeros where data was promised; the muxer writes no box of more than 4 GB.
    if (length < HEAD_BYTES) break;
    if (at + length > size) {
      if (head.toString('latin1', 4) === 'mdat') return size;
      break;
    }
    at += length;
  }
  if (at < size) {
    await file.truncate(at);
    await file.datasync();
  }
  return at;
}

// What the recorder calls its files: by the time. Files of others in the same folder are not touched.
const OURS = /^\d{8}T\d{6}\.\d{3}Z.*\.mp4$/;

/**
 * Mends the newest recording, the only one that was open when the process or the machine ended. An empty one is deleted. Never
 * throws: failures are passed to `onProblem`.
 */
export async function mendNewest(directory: string, onProblem: (sentence: string) => void): Promise<void> {
  try {
    const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const newest = names
      .filter((name) => OURS.test(name))
      .toSorted()
      .at(-1);
    if (newest === undefined) return;
    const path = join(directory, newest);
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      if ((await cutTornBox(file)) === 0) await rm(path);
    } finally {
      await file.close();
    }
  } catch (error) {
    onProblem(`cannot mend the newest recording of ${directory}: ${messageOf(error)}`);
  }
}
