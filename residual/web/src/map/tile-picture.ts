/** What the head of a tile says that it is: tiles are other people's, and the browser is given only pictures of a bounded size. */

const MOST_BYTES = 4 * 1024 * 1024;
/** A side; tiles have 256 or 512. */
const MOST_PX = 1024;

/** @throws Error naming what is wrong with it */
export function checkPicture(bytes: Uint8Array): void {
  if (bytes.length > MOST_BYTES) throw new Error('a tile that is too large');
  const size = pictureSize(bytes);
  if (size === null) throw new Error('a tile that is no picture');
  const [width, height] = size;
  if (width < 1 || height < 1 || width > MOST_PX || height > MOST_PX)
    throw new Error(`a tile of ${width}×${height} pixels`);
}

/** Width and height as a PNG, JPEG, WebP or AVIF claims; null: it is none of them, or broken. */
function pictureSize(bytes: Uint8Array): readonly [number, number] | null {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  try {
    if (text(0, 8) === '\x89PNG\r\n\x1a\n') return [data.getUint32(16), data.getUint32(20)];
    if (data.getUint16(0) === 0xffd8) return jpegSize(data);
    if (text(0, 4) === 'RIFF' && text(8, 4) === 'WEBP') return webpSize(text(12, 4), data);
    if (text(4, 8) === 'ftypavif') return avifSize(bytes, data);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // it ends before its size
  }
  return null;
}

/** The frame's header (ITU-T T.81, B.2.2), behind segments of any kind. */
function jpegSize(data: DataView): readonly [number, number] | null {
  for (let at = 2; data.getUint8(at) === 0xff; ) {
    const marker = data.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // SOF0 to SOF15; DHT, JPG and DAC lie among them.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [data.getUint16(at + 7), data.getUint16(at + 5)];
    at += 2 + data.getUint16(at + 2);
  }
  return null;
}

/** Of its first chunk (RFC 9649). */
function webpSize(chunk: string, data: DataView): readonly [number, number] | null {
  if (chunk === 'VP8 ') return [data.getUint16(26, true) & 0x3fff, data.getUint16(28, true) & 0x3fff];
  if (chunk === 'VP8L') {
    const bits = data.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  const three = (at: number): number => data.getUint16(at, true) + data.getUint8(at + 2) * 65_536 + 1;
  return chunk === 'VP8X' ? [three(24), three(27)] : null;
}

/** The largest that a property `ispe` (ISO/IEC 23008-12, 6.5.3) in its head claims. */
function avifSize(bytes: Uint8Array, data: DataView): readonly [number, number] | null {
  const end = Math.min(bytes.length - 16, 4096);
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
