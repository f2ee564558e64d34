import { Lzma2, LzmaError } from './lzma.ts';

const MAGIC = Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]);
const HEADER_BYTES = 12;
const LZMA2_FILTER = 0x21;
/** Bytes of the check behind a block, by its type. */
const CHECK_BYTES = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64] as const;

/**
 * Unpacks an .xz file (https://tukaani.org/xz/xz-file-format.txt) with the one filter that everybody uses. Its checks are not
 * computed: MAVLink has carried it in frames with checksums, and what comes out is parsed.
 * @throws LzmaError for anything else, and where it would be larger than `limit`
 */
export function unxz(file: Buffer, limit: number): Buffer {
  if (file.length < HEADER_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC))
    throw new LzmaError('no xz file');
  const check = CHECK_BYTES[(file[7] ?? 0) & 0x0f] ?? 0;
  const parts: Buffer[] = [];
  let total = 0;
  let at = HEADER_BYTES;
  for (;;) {
    const size = file[at];
    if (size === undefined) throw new LzmaError('cut off');
    if (size === 0) return Buffer.concat(parts); // the index: no more blocks
    readBlockHeader(file, at);
    const block = new Lzma2(limit - total);
    const end = block.decode(file, at + (size + 1) * 4);
    parts.push(block.output);
    total += block.output.length;
    at = Math.ceil(end / 4) * 4 + check;
  }
}

/** @throws LzmaError unless LZMA2 is the only filter */
function readBlockHeader(file: Buffer, start: number): void {
  const flags = file[start + 1] ?? 0xff;
  if ((flags & 0x03) !== 0) throw new LzmaError('filters other than LZMA2');
  let at = start + 2;
  // The two sizes, where they are told: their bytes have the top bit set but for the last.
  for (const told of [flags & 0x40, flags & 0x80]) {
    if (told === 0) continue;
    while (((file[at] ?? 0) & 0x80) !== 0) at++;
    at++;
  }
  if (file[at] !== LZMA2_FILTER) throw new LzmaError('filters other than LZMA2');
}
