import type { FileHandle } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { bytesToHeader, Compression, type Header, TileType } from 'pmtiles';
import { messageOf } from '../../../shared/errors.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';

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

/** What a map says of itself in words; null where it says nothing, or it cannot be read: the map can be used all the same. */
interface MapAbout {
  readonly name: string | null;
  readonly attribution: string | null;
  /** The source in `maps.sources` that the node made it from. */
  readonly source: string | null;
  readonly isTerrain: boolean;
}

/** As `aboutMap`, of a file. @throws Error for what is no PMTiles file */
export async function readMapAbout(file: FileHandle): Promise<MapAbout> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return aboutMap(file, mapHeader(buffer.subarray(0, bytesRead)));
}

export async function aboutMap(file: FileHandle, header: Header): Promise<MapAbout> {
  const metadata = await metadataOf(file, header);
  const text = (name: string): string | null => {
    const value = memberOf(metadata, name);
    return typeof value === 'string' ? plainText(value).slice(0, MAX_NAME_CHARS) : null;
  };
  return {
    name: text('name'),
    attribution: withoutTags(memberOf(metadata, 'attribution')),
    source: text('svc_source'),
    isTerrain: text('encoding') === 'terrarium',
  };
}

/** An attribution is often a link; only its words are shown. */
function withoutTags(html: unknown): string | null {
  if (typeof html !== 'string') return null;
  const words = html
    .slice(0, 2000)
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll('&copy;', '©')
    .replaceAll('&amp;', '&');
  return plainText(words).trim().slice(0, MAX_NAME_CHARS);
}

async function metadataOf(file: FileHandle, header: Header): Promise<unknown> {
  const { jsonMetadataOffset: at, jsonMetadataLength: length, internalCompression } = header;
  if (length === 0 || length > MAX_METADATA_BYTES) return null;
  const packed = Buffer.alloc(length);
  const { bytesRead } = await file.read(packed, 0, length, at);
  try {
    return parseJson(unpack(packed.subarray(0, bytesRead), internalCompression));
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
