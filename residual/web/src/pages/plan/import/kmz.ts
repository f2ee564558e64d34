import { Unzip, UnzipInflate } from 'fflate';
import { messageOf } from '../../../../../../shared/errors.ts';
import { textOf } from '../../../../../../shared/files/text-of.ts';
import { MAX_TEXT } from './text-bounds.ts';

/** The documents in a KMZ archive: all files that end in `.kml`, since the first one may only link to the others. */

const PIECE = 16 * 1024;
const MAX_ENTRIES = 2000;
/** What macOS keeps beside each file is none. */
const DOCUMENT = /^(?!__MACOSX\/)(?:.*\/)?(?!\._)[^/]*\.kml$/i;

/** What ends an archive that is no KMZ, or grows beyond what is taken. */
export class KmzFault extends Error {}

/**
 * Unpacked piece by piece, so that an archive that grows without end is left as soon as it is too large, whatever its headers say.
 * @throws KmzFault
 */
export function kmlsIn(archive: Uint8Array<ArrayBuffer>): readonly string[] {
  const documents: Uint8Array[][] = [];
  let entries = 0;
  let length = 0;
  let open = 0;
  const unzip = new Unzip((file) => {
    if (++entries > MAX_ENTRIES) throw new KmzFault('entries');
    if (!DOCUMENT.test(file.name)) return;
    const pieces: Uint8Array[] = [];
    documents.push(pieces);
    open++;
    file.ondata = (error, chunk, final) => {
      if (error !== null) throw new KmzFault(error.message);
      length += chunk.length;
      if (length > MAX_TEXT) throw new KmzFault('size');
      pieces.push(chunk);
      if (final) open--;
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let at = 0; at < archive.length; at += PIECE)
      unzip.push(archive.subarray(at, at + PIECE), at + PIECE >= archive.length);
    if (documents.length === 0 || open > 0) throw new KmzFault('no kml');
    return documents.map((pieces) => textOf(joined(pieces)));
  } catch (error) {
    throw error instanceof KmzFault ? error : new KmzFault(messageOf(error));
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
