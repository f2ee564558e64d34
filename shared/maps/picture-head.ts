/** What the head of a picture says that it is: tiles are other people's. Nothing is decoded. For the page and the node: no Node module. */

/** A side, pixels: a tile has 256 or 512, at most twice that for dense screens. */
export const MAX_TILE_PX = 1024;
/** Segments of a JPEG before its frame, more than any tile has. */
const MAX_SEGMENTS = 64;
/** Of an AVIF, that is looked through for its size. */
const AVIF_HEAD_BYTES = 4096;

interface PictureHead {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/avif';
  /** As it claims; null: it ends before, or is of an unknown kind. */
  readonly size: readonly [width: number, height: number] | null;
}

/** By its first bytes, whatever a server calls it; null: no PNG, JPEG, WebP or AVIF. */
export function pictureHead(bytes: Uint8Array): PictureHead | null {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  const of = (type: PictureHead['type'], size: () => PictureHead['size']): PictureHead => {
    try {
      return { type, size: size() };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { type, size: null }; // it ends before its size
    }
  };
  if (text(0, 8) === '\x89PNG\r\n\x1a\n')
    return of('image/png', () => (text(12, 4) === 'IHDR' ? [data.getUint32(16), data.getUint32(20)] : null));
  if (text(0, 2) === '\xff\xd8') return of('image/jpeg', () => jpegSize(data));
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WEBP')
    return of('image/webp', () => webpSize(text(12, 4), data));
  if (text(4, 8) === 'ftypavif') return of('image/avif', () => avifSize(bytes, data));
  return null;
}

/** The frame's header (ITU-T T.81, B.2.2), behind segments of any kind: of the frames that browsers show, SOF0 to SOF2. */
function jpegSize(data: DataView): PictureHead['size'] {
  let at = 2;
  for (let segment = 0; segment < MAX_SEGMENTS && data.getUint8(at) === 0xff; segment++) {
    const marker = data.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xc2) return [data.getUint16(at + 7), data.getUint16(at + 5)];
    if (marker === 0xff) at++;
    else at += 2 + data.getUint16(at + 2);
  }
  return null;
}

/** Of its first chunk (RFC 9649). */
function webpSize(chunk: string, data: DataView): PictureHead['size'] {
  if (chunk === 'VP8 ') return [data.getUint16(26, true) & 0x3fff, data.getUint16(28, true) & 0x3fff];
  if (chunk === 'VP8L') {
    const bits = data.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  const three = (at: number): number => data.getUint16(at, true) + data.getUint8(at + 2) * 65_536 + 1;
  return chunk === 'VP8X' ? [three(24), three(27)] : null;
}

/** The largest that a property `ispe` (ISO/IEC 23008-12, 6.5.3) in its head claims. */
function avifSize(bytes: Uint8Array, data: DataView): PictureHead['size'] {
  const end = Math.min(bytes.length - 16, AVIF_HEAD_BYTES);
  let found: [number, number] | null = null;
  for (let at = 0; at < end; at++) {
    if (data.getUint32(at) !== 0x69_73_70_65) continue;
    found = [
      Math.max(found?.[0] ?? 0, data.getUint32(at + 8)),
      Math.max(found?.[1] ?? 0, data.getUint32(at + 12)),
    ];
  }
  return found;
}
