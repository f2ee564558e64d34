import { crc32, deflateSync } from 'node:zlib';

/** The icon of the page, our own drawing: a quadcopter from above. One list of strokes, as SVG and, drawn here, as PNG. */

type Point = readonly [x: number, y: number];

/** In a square of 100 by 100. */
interface Stroke {
  readonly from: Point;
  readonly to: Point;
  /** Of a ring around `from`; 0: a line with round ends. */
  readonly radius: number;
  readonly width: number;
  readonly colour: string;
}

const BACK = '#0a56b4';
const FRONT = '#ffffff';
const ROTORS: readonly Point[] = [
  [27, 27],
  [73, 27],
  [27, 73],
  [73, 73],
];
const CENTRE: Point = [50, 50];
const STROKES: readonly Stroke[] = [
  ...ROTORS.map((to) => ({ from: CENTRE, to, radius: 0, width: 7, colour: FRONT })),
  ...ROTORS.map((from) => ({ from, to: from, radius: 14, width: 5, colour: FRONT })),
  { from: [50, 44], to: [50, 56], radius: 0, width: 20, colour: FRONT },
  // Its nose.
  { from: [50, 43], to: [50, 43], radius: 0, width: 9, colour: BACK },
];
/** Of the corners of the square. */
const CORNER = 22;
/** A phone may cut a masked icon to a circle of 80 %. */
const MASKED_SCALE = 0.78;

export function iconSvg(): string {
  const strokes = STROKES.map(({ from, to, radius, width, colour }) =>
    radius > 0
      ? `<circle cx="${from[0]}" cy="${from[1]}" r="${radius}" fill="none" stroke="${colour}" stroke-width="${width}"/>`
      : `<path d="M${from.join(' ')}L${to.join(' ')}" stroke="${colour}" stroke-width="${width}" stroke-linecap="round"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512" viewBox="0 0 100 100"><rect width="100" height="100" rx="${CORNER}" fill="${BACK}"/>${strokes.join('')}</svg>\n`;
}

/** @param size in pixels @param masked to the edge, the drawing small enough for any mask */
export function iconPng(size: number, { masked = false } = {}): Uint8Array {
  const pixel = 100 / size;
  const scale = masked ? MASKED_SCALE : 1;
  // Each line begins with its filter: none.
  const lines = Buffer.alloc(size * (1 + 4 * size));
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const at: Point = [(x + 0.5) * pixel, (y + 0.5) * pixel];
      const alpha = masked ? 1 : covered(toCorner(at), pixel);
      const inner: Point = [50 + (at[0] - 50) / scale, 50 + (at[1] - 50) / scale];
      let colour = rgb(BACK);
      for (const stroke of STROKES) {
        const share = covered(toStroke(inner, stroke) * scale, pixel);
        if (share > 0) colour = mixed(colour, rgb(stroke.colour), share);
      }
      lines.set([...colour.map(Math.round), Math.round(alpha * 255)], y * (1 + 4 * size) + 1 + 4 * x);
    }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6], 8); // 8 bits of red, green, blue and alpha
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** How much of a pixel is inside of a shape, from the distance of its middle to the edge (negative: inside). */
function covered(distance: number, pixel: number): number {
  return Math.min(1, Math.max(0, 0.5 - distance / pixel));
}

function toStroke([x, y]: Point, { from, to, radius, width }: Stroke): number {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = dx * dx + dy * dy;
  const along =
    length === 0 ? 0 : Math.min(1, Math.max(0, ((x - from[0]) * dx + (y - from[1]) * dy) / length));
  const away = Math.hypot(x - from[0] - along * dx, y - from[1] - along * dy);
  return Math.abs(away - radius) - width / 2;
}

/** To the edge of the square with round corners. */
function toCorner([x, y]: Point): number {
  const [dx, dy] = [Math.abs(x - 50) - 50 + CORNER, Math.abs(y - 50) - 50 + CORNER];
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - CORNER;
}

function rgb(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function mixed(under: readonly number[], over: readonly number[], share: number): readonly number[] {
  return under.map((value, at) => value + ((over[at] ?? 0) - value) * share);
}

function chunk(name: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}
