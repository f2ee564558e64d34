import type { Planes } from './planes.ts';

/** Corners of one polygon, also after it has been cut. */
const MOST_CORNERS = 16;
/** Nothing nearer to the camera than this is drawn, m. */
export const NEAREST_M = 0.3;

/** Fills convex shapes of one colour in a picture. It takes no memory for a shape. */
export class Brush {
  readonly #width: number;
  readonly #height: number;
  #planes: Planes = { y: new Uint8Array(0), u: new Uint8Array(0), v: new Uint8Array(0), strides: [0, 0, 0] };
  /** In the picture. */
  readonly #x = new Float64Array(MOST_CORNERS);
  readonly #y = new Float64Array(MOST_CORNERS);
  #count = 0;
  y = 0;
  u = 0;
  v = 0;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  begin(planes: Planes): void {
    this.#planes = planes;
  }

  /** The next shape begins. */
  clear(): void {
    this.#count = 0;
  }

  /** Pixels from the picture's upper left corner. */
  corner(x: number, y: number): void {
    if (this.#count >= MOST_CORNERS) return;
    this.#x[this.#count] = x;
    this.#y[this.#count] = y;
    this.#count++;
  }

  fill(): void {
    const { y, u, v, strides } = this.#planes;
    this.#plane(y, strides[0], this.#width, this.#height, 1, this.y);
    this.#plane(u, strides[1], this.#width / 2, this.#height / 2, 0.5, this.u);
    this.#plane(v, strides[2], this.#width / 2, this.#height / 2, 0.5, this.v);
  }

  /** An upright ellipse. */
  ellipse(x: number, y: number, across: number, down: number): void {
    const { y: luma, u, v, strides } = this.#planes;
    const [width, height] = [this.#width, this.#height];
    if (x + across < 0 || x - across > width || y + down < 0 || y - down > height) return;
    oval(luma, strides[0], width, height, x, y, across, down, this.y);
    oval(u, strides[1], width / 2, height / 2, x / 2, y / 2, across / 2, down / 2, this.u);
    oval(v, strides[2], width / 2, height / 2, x / 2, y / 2, across / 2, down / 2, this.v);
  }

  #plane(
    bytes: Uint8Array,
    stride: number,
    width: number,
    height: number,
    scale: number,
    value: number,
  ): void {
    const count = this.#count;
    let top = Infinity;
    let bottom = -Infinity;
    for (let at = 0; at < count; at++) {
      const y = (this.#y[at] ?? 0) * scale;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    const first = Math.max(0, Math.ceil(top - 0.5));
    const last = Math.min(height - 1, Math.floor(bottom - 0.5));
    for (let row = first; row <= last; row++) {
      const middle = row + 0.5;
      let left = Infinity;
      let right = -Infinity;
      let px = (this.#x[count - 1] ?? 0) * scale;
      let py = (this.#y[count - 1] ?? 0) * scale;
      for (let at = 0; at < count; at++) {
        const x = (this.#x[at] ?? 0) * scale;
        const y = (this.#y[at] ?? 0) * scale;
        if (py > middle !== y > middle) {
          const cross = px + ((middle - py) / (y - py)) * (x - px);
          if (cross < left) left = cross;
          if (cross > right) right = cross;
        }
        px = x;
        py = y;
      }
      run(bytes, row * stride, width, left, right, value);
    }
  }
}

function oval(
  bytes: Uint8Array,
  stride: number,
  width: number,
  height: number,
  x: number,
  y: number,
  across: number,
  down: number,
  value: number,
): void {
  const first = Math.max(0, Math.ceil(y - down - 0.5));
  const last = Math.min(height - 1, Math.floor(y + down - 0.5));
  const flat = 1 / (down * down);
  for (let row = first; row <= last; row++) {
    const dy = row + 0.5 - y;
    const half = across * Math.sqrt(Math.max(0, 1 - dy * dy * flat));
    run(bytes, row * stride, width, x - half, x + half, value);
  }
}

/** The pixels of a row whose middle is between `left` and `right`. */
function run(
  bytes: Uint8Array,
  row: number,
  width: number,
  left: number,
  right: number,
  value: number,
): void {
  const from = Math.max(0, Math.ceil(left - 0.5));
  const to = Math.min(width - 1, Math.floor(right - 0.5));
  if (to - from > 24) bytes.fill(value, row + from, row + to + 1);
  else for (let at = row + from; at <= row + to; at++) bytes[at] = value;
}
