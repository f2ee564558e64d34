import { crc32, deflateSync } from 'node:zlib';
import type { PNG } from 'pngjs';

const COLOURS = 256;
/** Those of surfaces, which are kept as they are. */
const EXACT = 32;
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * A PNG of one byte a pixel, less than half as large as pngjs writes it, which knows no palette. The colours that are there most
 * are kept as they are, which is every surface; others, of the edges of letters, become the nearest of the palette. Opaque.
 * Format: W3C PNG, 11.2 (IHDR, PLTE, IDAT, IEND)
 */
export function palettePng({ width, height, data }: PNG): Buffer {
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = paletteOf([...counts].toSorted((a, b) => b[1] - a[1]).map(([colour]) => colour));
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc(height * (width + 1)); // each begins with its filter: none
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const colour = data.readUIntBE((y * width + x) * 4, 3);
      const place = places.get(colour) ?? nearest(palette, colour);
      places.set(colour, place);
      rows[y * (width + 1) + 1 + x] = place;
    }
  const colours = Buffer.alloc(palette.length * 3);
  for (const [place, colour] of palette.entries()) colours.writeUIntBE(colour, place * 3, 3);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, palette, deflate, filters, not interlaced
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** As many colours as fit, so that none of the others is farther from all of them than need be. @param colours most frequent first */
function paletteOf(colours: readonly number[]): readonly number[] {
  for (let reach = 0; ; reach++) {
    const palette = colours.slice(0, EXACT);
    for (const colour of colours.slice(EXACT)) {
      if (palette.every((other) => distance(colour, other) > reach)) palette.push(colour);
      if (palette.length > COLOURS) break;
    }
    if (palette.length <= COLOURS) return palette;
  }
}

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((other) => distance(colour, other));
  return distances.indexOf(Math.min(...distances));
}

/** The largest of those of red, green and blue. */
function distance(one: number, other: number): number {
  return Math.max(...[16, 8, 0].map((shift) => Math.abs(((one >> shift) & 255) - ((other >> shift) & 255))));
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'ascii'), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
