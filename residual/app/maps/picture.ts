/** What a tile is by its own bytes; whatever a server calls it. Nothing is decoded. */

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp';

/** A tile has 256 or 512 pixels a side, at most twice that for dense screens. */
const MAX_SIDE = 1024;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_END = Buffer.from([0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);
/** Start of frame, of every kind that browsers show (ITU-T T.81, B.1.1.3): baseline, extended, progressive. */
const FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
/** Segments before the frame, more than any tile has. */
const MAX_SEGMENTS = 64;

/** @throws Error that says why it is no whole picture of the size of a tile */
export function pictureType(bytes: Buffer): PictureType {
  const found = sizeOf(bytes);
  if (found === null) throw new Error(notOne(bytes));
  const { type, width, height } = found;
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    throw new Error(`a picture of ${width} by ${height} pixels is no tile`);
  return type;
}

interface Size {
  readonly type: PictureType;
  readonly width: number;
  readonly height: number;
}

function sizeOf(bytes: Buffer): Size | null {
  if (bytes.subarray(0, 8).equals(PNG)) return png(bytes);
  if (bytes.length > 4 && bytes.readUInt16BE(0) === 0xffd8) return jpeg(bytes);
  if (
    bytes.length > 30 &&
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 12) === 'WEBP'
  )
    return webp(bytes);
  return null;
}

function png(bytes: Buffer): Size {
  if (bytes.length < 45 || bytes.toString('latin1', 12, 16) !== 'IHDR' || !bytes.subarray(-8).equals(PNG_END))
    throw cutOff();
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function jpeg(bytes: Buffer): Size {
  if (bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) < bytes.length - 64) throw cutOff(); // some pad behind the end
  let at = 2;
  for (let segment = 0; segment < MAX_SEGMENTS && at + 9 <= bytes.length; segment++) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1] ?? 0;
    if (FRAMES.has(marker))
      return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    if (marker === 0xff) at++;
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  throw new Error('a JPEG without a frame');
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function webp(bytes: Buffer): Size {
  if (bytes.readUInt32LE(4) + 8 > bytes.length) throw cutOff();
  const type = 'image/webp';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      throw new Error('a WebP of an unknown kind');
  }
}

function cutOff(): Error {
  return new Error('a picture that ends in the middle');
}

function notOne(bytes: Buffer): string {
  if (bytes.length === 0) return 'nothing';
  return /^\s*(?:<!doctype|<html|<\?xml)/i.test(bytes.toString('latin1', 0, 64))
    ? 'a web page instead of a picture'
    : 'something that is no PNG, JPEG or WebP';
}
