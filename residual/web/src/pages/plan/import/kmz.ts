import { Unzip, UnzipInflate } from 'fflate';
import { MAX_TEXT } from './text-bounds.ts';

/** The document in a KMZ archive: its first file that ends in `.kml`. */

const PIECE = 16 * 1024;
const MAX_ENTRIES = 2000;

/** What ends an archive that is no KMZ, or grows beyond what is taken. */
export class KmzFault extends Error {}

/**
 * Unpacked piece by piece, so that an archive that grows without end is left as soon as it is too large, whatever its headers say.
 * @throws KmzFault
 */
export function kmlIn(archive: Uint8Array<ArrayBuffer>): string {
  const decoder = new TextDecoder();
  let text = '';
  let state: 'before' | 'within' | 'done' = 'before';
  let entries = 0;
  const unzip = new Unzip((file) => {
    if (++entries > MAX_ENTRIES) throw new KmzFault('entries');
    if (state !== 'before' || !/\.kml$/i.test(file.name)) return;
    state = 'within';
    let length = 0;
    file.ondata = (error, chunk, final) => {
      if (error !== null) throw new KmzFault(error.message);
      length += chunk.length;
      if (length > MAX_TEXT) throw new KmzFault('size');
      text += decoder.decode(chunk, { stream: !final });
      if (final) state = 'done';
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let at = 0; at < archive.length && isUnfinished(); at += PIECE)
      unzip.push(archive.subarray(at, at + PIECE), at + PIECE >= archive.length);
  } catch (error) {
    if (error instanceof KmzFault) throw error;
    throw new KmzFault(error instanceof Error ? error.message : String(error));
  }
  if (isUnfinished()) throw new KmzFault('no kml');
  return text;

  /** A function, as the compiler does not see that the listener changes it. */
  function isUnfinished(): boolean {
    return state !== 'done';
  }
}
