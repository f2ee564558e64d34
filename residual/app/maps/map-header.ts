import type { FileHandle } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { bytesToHeader, Compression, type Header, TileType } from 'pmtiles';
import { messageOf } from '../../../shared/errors.ts';

/** What a PMTiles file of version 3 says about itself (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md). */

export const HEADER_BYTES = 127;
const MAGIC = 'PMTiles';
const VERSION = 3;
/** Metadata that is larger, stored or unpacked, is not read: only a name is wanted. */
const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const MAX_NAME_CHARS = 200;

/** @param bytes at least the first 127. @throws Error with a sentence, for what is no PMTiles file of version 3 */
export function mapHeader(bytes: Buffer): Header {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new Error('it is no PMTiles file');
  const version = bytes[MAGIC.length] ?? 0;
  if (version !== VERSION) throw new Error(`it is PMTiles of version ${version}, and 3 is needed`);
  const header = bytesToHeader(new Uint8Array(bytes.subarray(0, HEADER_BYTES)).buffer);
  if (TileType[header.tileType] === undefined) throw new Error(`its tiles are of type ${header.tileType}`);
  if (header.minZoom > header.maxZoom || header.maxZoom > 30)
    throw new Error(`its zoom goes from ${header.minZoom} to ${header.maxZoom}`);
  return header;
}

/** @param size of the file, bytes. @throws Error if the file ends before what its header tells of */
export function checkWhole(header: Header, size: number): void {
  const end = Math.max(
    header.rootDirectoryOffset + header.rootDirectoryLength,
    header.jsonMetadataOffset + header.jsonMetadataLength,
    header.leafDirectoryOffset + (header.leafDirectoryLength ?? 0),
    header.tileDataOffset + (header.tileDataLength ?? 0),
  );
  if (!(end <= size)) throw new Error(`it has ${size} bytes of ${end}`);
}

/** The name in the metadata; null where there is none, or it cannot be read: the map can be used all the same. */
export async function nameOfMap(file: FileHandle, header: Header): Promise<string | null> {
  const { jsonMetadataOffset: at, jsonMetadataLength: length, internalCompression } = header;
  if (length === 0 || length > MAX_METADATA_BYTES) return null;
  const packed = Buffer.alloc(length);
  const { bytesRead } = await file.read(packed, 0, length, at);
  try {
    const metadata: unknown = JSON.parse(unpack(packed.subarray(0, bytesRead), internalCompression));
    if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return null;
    return typeof metadata.name === 'string' ? metadata.name.slice(0, MAX_NAME_CHARS) : null;
  } catch (error) {
    process.emitWarning(`the metadata of a map: ${messageOf(error)}`);
    return null;
  }
}

function unpack(bytes: Buffer, compression: Compression): string {
  const bound = { maxOutputLength: MAX_METADATA_BYTES };
  switch (compression) {
    case Compression.None:
      return bytes.toString('utf8');
    case Compression.Gzip:
      return gunzipSync(bytes, bound).toString('utf8');
    case Compression.Brotli:
      return brotliDecompressSync(bytes, bound).toString('utf8');
    case Compression.Zstd:
      return zstdDecompressSync(bytes, bound).toString('utf8');
    case Compression.Unknown:
      throw new Error('it does not say how it is packed');
  }
}
