import { MAX_TILE_PX, pictureHead } from '../maps/picture-head.ts';

/** What a tile is by its own bytes; whatever a server calls it. Nothing is decoded. */

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp';

const PNG_END = Buffer.from([0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);
const JPEG_END = Buffer.from([0xff, 0xd9]);
/** Some pad behind the end of a JPEG. */
const PADDING_BYTES = 64;

/** @throws Error that says why it is no whole picture of the size of a tile */
export function pictureType(bytes: Buffer): PictureType {
  const head = pictureHead(bytes);
  if (head === null || head.type === 'image/avif') throw new Error(notOne(bytes));
  const { type, size } = head;
  if (!isWhole(type, bytes)) throw new Error('a picture that ends in the middle');
  if (size === null) throw new Error(`a picture whose head does not say its size (${type})`);
  const [width, height] = size;
  if (width < 1 || height < 1 || width > MAX_TILE_PX || height > MAX_TILE_PX)
    throw new Error(`a picture of ${width} by ${height} pixels is no tile`);
  return type;
}

function isWhole(type: PictureType, bytes: Buffer): boolean {
  switch (type) {
    case 'image/png':
      return bytes.subarray(-8).equals(PNG_END);
    case 'image/jpeg':
      return bytes.length > 4 && bytes.lastIndexOf(JPEG_END) >= bytes.length - PADDING_BYTES;
    case 'image/webp':
      // https://developers.google.com/speed/webp/docs/riff_container
      return bytes.length > 30 && bytes.readUInt32LE(4) + 8 <= bytes.length;
  }
}

function notOne(bytes: Buffer): string {
  if (bytes.length === 0) return 'nothing';
  return /^\s*(?:<!doctype|<html|<\?xml)/i.test(bytes.toString('latin1', 0, 64))
    ? 'a web page instead of a picture'
    : 'something that is no PNG, JPEG or WebP';
}
