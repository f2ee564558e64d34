import { EXTENT_M, type Tree } from '../../../../shared/landscape/parts.ts';
import { type Brush, NEAREST_M } from './brush.ts';
import { LEAVES, mixed, type Rgb, shaded, yuv } from './colours.ts';
import { type HazeTables, stepOf } from './haze.ts';
import type { View } from './view.ts';

/** Trees are kept by squares of the land, so that only those near the camera are looked at. */
const SQUARE_M = 120;
const SQUARES = Math.ceil((2 * EXTENT_M) / SQUARE_M);
/** Further away the painted ground has them already. */
const FURTHEST_M = 820;
/** A picture has no more. */
export const MOST_SEEN = 3000;
const TALLEST_M = 26;
const SMALLEST_PX = 0.9;

/** Brightness of the parts of a crown, from below to the side of the sun. */
const LIGHTS = [0.66, 0.86, 1, 1.16, 1.3] as const;
const KINDS = ['broad', 'conifer', 'bush'] as const;
/** Where the leaves of a large crown bulge: right, down, size, which light. */
const BULGES = [
  [0.02, 0.18, 0.82, 0],
  [0.5, 0.12, 0.48, 0],
  [-0.48, 0.16, 0.5, 1],
  [0.42, -0.3, 0.46, 1],
  [0.04, 0, 0.62, 2],
  [-0.4, -0.24, 0.5, 3],
  [0.08, -0.46, 0.48, 3],
  [-0.22, -0.36, 0.32, 4],
] as const;

/** All trees, and which of them a camera sees. */
export class Forest {
  readonly #trees: readonly Tree[];
  /** The first tree of each square. */
  readonly #from = new Int32Array(SQUARES * SQUARES + 1);
  /** Y, U, V by tree, kind of light: colours of a few shades. */
  readonly #colours: readonly (readonly (readonly [number, number, number])[])[];
  readonly #trunk = yuv(LEAVES.trunk);
  /** Those that are seen, and how far away they are. */
  readonly seen = new Int32Array(MOST_SEEN);
  readonly depth = new Float32Array(MOST_SEEN);
  count = 0;

  constructor(trees: readonly Tree[]) {
    const square = ({ at }: Tree): number => squareOf(at[1]) * SQUARES + squareOf(at[0]);
    this.#trees = trees.toSorted((one, other) => square(one) - square(other));
    for (const tree of this.#trees) {
      const next = square(tree) + 1;
      this.#from[next] = (this.#from[next] ?? 0) + 1;
    }
    for (let at = 1; at < this.#from.length; at++)
      this.#from[at] = (this.#from[at] ?? 0) + (this.#from[at - 1] ?? 0);
    this.#colours = KINDS.flatMap((kind) =>
      Array.from({ length: SHADES }, (_, shade) =>
        LIGHTS.map((light) => yuv(tint(LEAVES[kind], shade, light))),
      ),
    );
  }

  look(view: View): void {
    this.count = 0;
    const [west, east] = [squareOf(view.e - FURTHEST_M), squareOf(view.e + FURTHEST_M)];
    const [south, north] = [squareOf(view.n - FURTHEST_M), squareOf(view.n + FURTHEST_M)];
    if (Math.abs(view.e) > EXTENT_M + FURTHEST_M || Math.abs(view.n) > EXTENT_M + FURTHEST_M) return;
    const side = view.width / 2 / view.focal;
    const high = view.height / 2 / view.focal;
    for (let row = south; row <= north; row++)
      for (let column = west; column <= east; column++) {
        const e = (column + 0.5) * SQUARE_M - EXTENT_M;
        const n = (row + 0.5) * SQUARE_M - EXTENT_M;
        const depth = view.depth(e, n, 0) + SQUARE_M;
        if (depth < 0 || Math.abs(view.across(e, n, 0)) > depth * side + SQUARE_M * 1.5) continue;
        const square = row * SQUARES + column;
        for (let at = this.#from[square] ?? 0; at < (this.#from[square + 1] ?? 0); at++)
          this.#see(view, at, side, high);
      }
  }

  draw(at: number, view: View, brush: Brush, haze: HazeTables): void {
    const tree = this.#trees[at];
    if (tree === undefined) return;
    const { kind, height, radius, shade } = tree;
    const [e, n] = tree.at;
    const crown = kind === 'bush' ? height * 0.5 : height * 0.62;
    const z = view.depth(e, n, crown);
    if (z < 1) return;
    const { focal, width } = view;
    const x = width / 2 + (focal * view.across(e, n, crown)) / z;
    const y = view.height / 2 + (focal * view.below(e, n, crown)) / z;
    const size = (focal * radius) / z;
    const colours =
      this.#colours[KINDS.indexOf(kind) * SHADES + Math.min(SHADES - 1, Math.floor(shade * SHADES))] ?? [];
    const fade = stepOf(z) << 8;
    // From the side as high as it is, from above as wide.
    const steep = Math.min(1, Math.abs(view.ahead.d) * 1.1);
    const half = kind === 'bush' ? height * 0.5 : height * 0.4;
    const down = (focal * (half * (1 - steep) + radius * steep)) / z;
    if (kind === 'conifer') {
      this.#conifer(view, brush, haze, tree, fade, colours, size);
      return;
    }
    if (size > 3 && kind === 'broad') this.#stem(view, brush, haze, tree, fade, crown);
    if (size < 2.2) {
      paint(brush, haze, fade, colours[1]);
      brush.ellipse(x, y, Math.max(0.7, size), Math.max(0.7, down));
      return;
    }
    if (size < 9) {
      paint(brush, haze, fade, colours[0]);
      brush.ellipse(x, y, size, down);
      paint(brush, haze, fade, colours[2]);
      brush.ellipse(x - size * 0.18, y - down * 0.2, size * 0.74, down * 0.74);
      paint(brush, haze, fade, colours[3]);
      brush.ellipse(x - size * 0.32, y - down * 0.4, size * 0.4, down * 0.4);
      return;
    }
    for (const [right, below, share, light] of BULGES) {
      paint(brush, haze, fade, colours[light]);
      // No two alike.
      const turn = shade > 0.5 ? 1 : -0.6;
      brush.ellipse(x + size * right * turn, y + down * below, size * share, down * share);
    }
  }

  #see(view: View, at: number, side: number, high: number): void {
    const tree = this.#trees[at];
    if (tree === undefined || this.count >= MOST_SEEN) return;
    const [e, n] = tree.at;
    const up = tree.height * 0.5;
    const z = view.depth(e, n, up);
    if (z < 1.5 || z > FURTHEST_M || view.focal * tree.radius < z * SMALLEST_PX) return;
    const room = Math.max(tree.height, TALLEST_M / 2);
    if (Math.abs(view.across(e, n, up)) > z * side + room || Math.abs(view.below(e, n, up)) > z * high + room)
      return;
    this.seen[this.count] = at;
    this.depth[this.count] = z;
    this.count++;
  }

  #stem(
    view: View,
    brush: Brush,
    haze: HazeTables,
    { at: [e, n], height }: Tree,
    fade: number,
    crown: number,
  ): void {
    const z0 = view.depth(e, n, 0);
    const z1 = view.depth(e, n, crown);
    if (z0 < NEAREST_M || z1 < NEAREST_M) return;
    const { focal } = view;
    const [x0, y0] = [
      view.width / 2 + (focal * view.across(e, n, 0)) / z0,
      view.height / 2 + (focal * view.below(e, n, 0)) / z0,
    ];
    const [x1, y1] = [
      view.width / 2 + (focal * view.across(e, n, crown)) / z1,
      view.height / 2 + (focal * view.below(e, n, crown)) / z1,
    ];
    const half = Math.max(0.5, (focal * height * 0.022) / z0);
    paint(brush, haze, fade, this.#trunk);
    band(brush, x0, y0, x1, y1, half, half);
  }

  #conifer(
    view: View,
    brush: Brush,
    haze: HazeTables,
    { at: [e, n], height, radius }: Tree,
    fade: number,
    colours: readonly (readonly [number, number, number])[],
    size: number,
  ): void {
    const low = height * 0.1;
    const z0 = view.depth(e, n, low);
    const z1 = view.depth(e, n, height);
    if (z0 < NEAREST_M || z1 < NEAREST_M) return;
    const { focal } = view;
    const [x0, y0] = [
      view.width / 2 + (focal * view.across(e, n, low)) / z0,
      view.height / 2 + (focal * view.below(e, n, low)) / z0,
    ];
    const [x1, y1] = [
      view.width / 2 + (focal * view.across(e, n, height)) / z1,
      view.height / 2 + (focal * view.below(e, n, height)) / z1,
    ];
    const half = (focal * radius) / z0;
    paint(brush, haze, fade, colours[1]);
    const flat = Math.min(1, Math.abs(view.ahead.d));
    brush.ellipse(x0, y0, half, Math.max(0.5, half * flat));
    band(brush, x0, y0, x1, y1, half, 0.2);
    if (size < 2) return;
    paint(brush, haze, fade, colours[3]);
    band(brush, x0 - half * 0.4, y0, x1, y1, half * 0.55, 0.2);
  }
}

const SHADES = 5;

function tint(colour: Rgb, shade: number, light: number): Rgb {
  const share = shade / (SHADES - 1);
  return shaded(mixed(colour, [118, 128, 56], share * 0.28), light * (0.9 + 0.2 * share));
}

function paint(
  brush: Brush,
  haze: HazeTables,
  fade: number,
  colour: readonly [number, number, number] | undefined,
): void {
  brush.y = haze.y[fade | (colour?.[0] ?? 0)] ?? 0;
  brush.u = haze.u[fade | (colour?.[1] ?? 0)] ?? 0;
  brush.v = haze.v[fade | (colour?.[2] ?? 0)] ?? 0;
}

/** From one point to another, as wide to each side as told. */
function band(
  brush: Brush,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  half0: number,
  half1: number,
): void {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [dx, dy] = [(y1 - y0) / length, (x0 - x1) / length];
  brush.clear();
  brush.corner(x0 - dx * half0, y0 - dy * half0);
  brush.corner(x0 + dx * half0, y0 + dy * half0);
  brush.corner(x1 + dx * half1, y1 + dy * half1);
  brush.corner(x1 - dx * half1, y1 - dy * half1);
  brush.fill();
}

function squareOf(metres: number): number {
  return Math.max(0, Math.min(SQUARES - 1, Math.floor((metres + EXTENT_M) / SQUARE_M)));
}
