import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Directories of PMTiles of version 3: columns of varints, packed (section 4 of the specification). */

export const packed = promisify<Buffer, Buffer>(gzip);

/** A run of tiles with one content; in a root directory with leaves, runLength 0 and the place of a leaf. */
export interface DirectoryEntry {
  readonly tileId: number;
  readonly offset: number;
  readonly length: number;
  runLength: number;
}

/** A root that is this long has no chance to fit. */
const MAX_IN_ROOT = 16_000;
const FIRST_LEAF = 4096;

/** @param entries sorted. @returns the root, not longer than `maxRoot` bytes, and its leaves in their order, none if all fits */
export async function packDirectories(
  entries: readonly DirectoryEntry[],
  maxRoot: number,
): Promise<{ root: Buffer; leaves: Buffer[] }> {
  if (entries.length <= MAX_IN_ROOT) {
    const root = await packed(directory(entries));
    if (root.length <= maxRoot) return { root, leaves: [] };
  }
  for (let size = FIRST_LEAF; ; size *= 2) {
    const leaves: Buffer[] = [];
    const places: DirectoryEntry[] = [];
    let offset = 0;
    for (let start = 0; start < entries.length; start += size) {
      const part = entries.slice(start, start + size);
      const leaf = await packed(directory(part));
      places.push({ tileId: part[0]?.tileId ?? 0, offset, length: leaf.length, runLength: 0 });
      leaves.push(leaf);
      offset += leaf.length;
    }
    const root = await packed(directory(places));
    if (root.length <= maxRoot) return { root, leaves };
  }
}

function directory(entries: readonly DirectoryEntry[]): Buffer {
  const bytes: number[] = [];
  pushVarint(bytes, entries.length);
  let last = 0;
  for (const { tileId } of entries) {
    pushVarint(bytes, tileId - last);
    last = tileId;
  }
  for (const { runLength } of entries) pushVarint(bytes, runLength);
  for (const { length } of entries) pushVarint(bytes, length);
  let end = -1; // the first is never said to follow another
  for (const { offset, length } of entries) {
    pushVarint(bytes, offset === end ? 0 : offset + 1);
    end = offset + length;
  }
  return Buffer.from(bytes);
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
