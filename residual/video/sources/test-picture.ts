import { markerBox } from '../../../shared/video/test-marker.ts';
import { GLYPH_HEIGHT } from '../drawing/glyphs.ts';
import { Plane } from '../drawing/plane.ts';
import { STRIP_CELLS, stripCells, stripHeight } from './clock-strip.ts';

/** The planes of a picture in planar YUV 4:2:0, limited range. */
interface Planes {
  readonly y: Buffer;
  readonly u: Buffer;
  readonly v: Buffer;
  /** Bytes from one row to the next, for y, u and v. */
  readonly strides: readonly [number, number, number];
}

const BLACK = 16;
const WHITE = 235;
// The eight bars of a colour-bar card at 75 %, as Y, U, V (ITU-R BT.601).
const BARS: readonly (readonly [number, number, number])[] = [
  [180, 128, 128],
  [162, 44, 142],
  [131, 156, 44],
  [112, 72, 58],
  [84, 184, 198],
  [65, 100, 212],
  [35, 212, 114],
  [16, 128, 128],
];

/** Draws the moving test picture: colour bars, a white bar that moves, the time of day in UTC, the frame number and the clock strip. */
export class TestPicture {
  readonly #width: number;
  readonly #height: number;
  /** Pixels to a dot of the font. */
  readonly #scale: number;
  /** Rows from one line of text to the next. */
  readonly #line: number;
  readonly #background: Planes;

  /** @param width @param height pixels, both even */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#scale = Math.max(1, Math.floor(width / 256));
    this.#line = (GLYPH_HEIGHT + 3) * this.#scale;
    this.#background = colourBars(width, height);
    // Grey under the strip and the text: in colour they would be harder to read.
    const grey = Math.ceil((stripHeight(height) + 2 * this.#line + 6 * this.#scale) / 2) * (width / 2);
    this.#background.u.fill(128, 0, grey);
    this.#background.v.fill(128, 0, grey);
  }

  /** Fills `planes` with frame `number` taken at `timeMs` (Unix time). */
  draw(planes: Planes, timeMs: number, number: number): void {
    const { y: luma } = planes;
    copyPlane(this.#background.y, this.#width, luma, planes.strides[0], this.#height);
    copyPlane(this.#background.u, this.#width / 2, planes.u, planes.strides[1], this.#height / 2);
    copyPlane(this.#background.v, this.#width / 2, planes.v, planes.strides[2], this.#height / 2);
    const plane = new Plane(luma, this.#width, this.#height, planes.strides[0]);
    this.#marker(planes, plane, timeMs);
    const scale = this.#scale;
    const top = stripHeight(this.#height) + 4 * scale;
    const clock = new Date(timeMs).toISOString().replace('T', ' ');
    for (const [line, text] of [clock, `TEST #${number}`].entries())
      plane.label(text, 3 * scale, top - scale + line * this.#line, scale, { ink: WHITE, paper: BLACK });
    this.#strip(plane, timeMs);
  }

  /** White, not only bright: that tells it from the bars. */
  #marker({ u, v, strides }: Planes, plane: Plane, timeMs: number): void {
    const { x, y, width, height } = markerBox(timeMs, this.#width, this.#height);
    plane.fill(x, y, width, height, WHITE);
    for (let row = y / 2; row < (y + height) / 2; row++) {
      u.fill(128, row * strides[1] + x / 2, row * strides[1] + (x + width) / 2);
      v.fill(128, row * strides[2] + x / 2, row * strides[2] + (x + width) / 2);
    }
  }

  #strip(plane: Plane, timeMs: number): void {
    const height = stripHeight(this.#height);
    stripCells(timeMs).forEach((white, cell) => {
      const from = Math.round((cell * this.#width) / STRIP_CELLS);
      const to = Math.round(((cell + 1) * this.#width) / STRIP_CELLS);
      plane.fill(from, 0, to - from, height, white ? WHITE : BLACK);
    });
  }
}

function copyPlane(from: Buffer, width: number, to: Buffer, stride: number, rows: number): void {
  if (width === stride) {
    from.copy(to, 0, 0, width * rows);
    return;
  }
  for (let row = 0; row < rows; row++) from.copy(to, row * stride, row * width, (row + 1) * width);
}

function colourBars(width: number, height: number): Planes {
  const planes: Planes = {
    y: Buffer.alloc(width * height),
    u: Buffer.alloc((width * height) / 4),
    v: Buffer.alloc((width * height) / 4),
    strides: [width, width / 2, width / 2],
  };
  const paint = (plane: Buffer, columns: number, rows: number, part: 0 | 1 | 2): void => {
    for (let column = 0; column < columns; column++) {
      const colour = BARS[Math.floor((column * BARS.length) / columns)];
      plane[column] = colour === undefined ? BLACK : colour[part];
    }
    for (let row = 1; row < rows; row++) plane.copy(plane, row * columns, 0, columns);
  };
  paint(planes.y, width, height, 0);
  paint(planes.u, width / 2, height / 2, 1);
  paint(planes.v, width / 2, height / 2, 2);
  return planes;
}
