import { crc32, deflateSync, gzipSync } from 'node:zlib';

/** A PMTiles file of version 3 with one tile, 0/0/0, near Zürich. @param tile a PNG, as its head says; the node does not look */
export function tinyMap(name: string, tile: Buffer, maxZoom = 5): Buffer {
  const metadata = gzipSync(JSON.stringify({ name }));
  // One entry: tile 0, run of 1, its length, its offset + 1.
  const root = gzipSync(Buffer.from([1, 0, 1, ...varint(tile.length), 1]));
  const header = Buffer.alloc(127);
  header.write('PMTiles', 'latin1');
  header[7] = 3;
  const rootAt = header.length;
  const metadataAt = rootAt + root.length;
  const tilesAt = metadataAt + metadata.length;
  const numbers = [
    rootAt,
    root.length,
    metadataAt,
    metadata.length,
    tilesAt,
    0,
    tilesAt,
    tile.length,
    1,
    1,
    1,
  ];
  for (const [index, value] of numbers.entries()) header.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  header.set([1, 2, 1, 2, 0, maxZoom], 96); // clustered, gzip inside, tiles as they are, PNG, zoom 0 to …
  for (const [index, degrees] of [8.5, 47.1, 8.75, 47.5].entries())
    header.writeInt32LE(degrees * 1e7, 102 + 4 * index);
  header[118] = 3;
  header.writeInt32LE(8.6 * 1e7, 119);
  header.writeInt32LE(47.3 * 1e7, 123);
  return Buffer.concat([header, root, metadata, tile]);
}

/** A picture of one colour. @param rgb 0 to 255 each */
export function plainPng(size: number, rgb: readonly [number, number, number]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2], 8); // 8 bits, colour
  const line = Buffer.concat([
    Buffer.from([0]),
    Buffer.concat(Array.from({ length: size }, () => Buffer.from(rgb))),
  ]);
  const data = deflateSync(Buffer.concat(Array.from({ length: size }, () => line)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}
