import type { Landscape } from '../../../../shared/landscape/landscape.ts';
import type { Field, House, Tree } from '../../../../shared/landscape/parts.ts';
import { EXTENT_M, PAD } from '../../../../shared/landscape/parts.ts';
import { corner, type Point, type Polygon, rectangle } from '../../../../shared/landscape/polygon.ts';
import { seededRandom } from '../../../../shared/random.ts';
import { type Canvas, SIDE } from './canvas.ts';
import { BUILT, CROP_COLOURS, GROUND, LEAVES, LIGHT, mixed, oneOf, type Rgb, shaded } from './colours.ts';
import { NOISE_SIDE, noiseTile } from './noise.ts';

const BLACK: Rgb = [14, 22, 30];
/** Finer than this, trees and houses stand there themselves, and only their shadows are painted. */
const FROM_ABOVE_M = 0.5;
/** How far a shadow reaches, of the height. */
const REACH = Math.hypot(LIGHT.e, LIGHT.n) / -LIGHT.u;
const AWAY: Point = [LIGHT.e / Math.hypot(LIGHT.e, LIGHT.n), LIGHT.n / Math.hypot(LIGHT.e, LIGHT.n)];

/** Paints the levels of one landscape. */
export class GroundPainter {
  readonly #land: Landscape;
  /** Wide and fine spots. */
  readonly #wide: Int8Array;
  readonly #fine: Int8Array;

  constructor(land: Landscape, seed: number) {
    this.#land = land;
    const random = seededRandom(seed ^ 0x5eed);
    this.#wide = noiseTile(random, 4, 4);
    this.#fine = noiseTile(random, 32, 3);
  }

  /** Paints what the canvas covers, from the ground up; each step takes a few ms. */
  *paint(canvas: Canvas): Generator<undefined> {
    const { fields, woods, stream, roads, lawn, yard, houses, trees } = this.#land;
    yield* this.#base(canvas);
    let count = 0;
    for (const field of fields) {
      if (!reaches(canvas, field.shape)) continue;
      this.#field(canvas, field);
      if (++count % 24 === 0 || canvas.res < 1) yield;
    }
    for (const wood of woods) if (reaches(canvas, wood)) this.#tinted(canvas, wood, GROUND.wood, 0.12, 0.1);
    yield;
    this.#mown(canvas, lawn);
    this.#water(canvas);
    canvas.line(stream.line, stream.width + 6, GROUND.shore, 0.6);
    canvas.line(stream.line, stream.width, GROUND.water);
    yield;
    for (const { kind, width, line } of roads) {
      const colour = kind === 'track' ? GROUND.track : kind === 'lane' ? GROUND.gravel : GROUND.asphalt;
      if (kind === 'road') canvas.line(line, width + 1.4, GROUND.gravel, 0.7);
      canvas.line(line, width, colour);
      if (kind === 'road' && canvas.res < 0.6) this.#dashes(canvas, line);
      if (kind !== 'road' && canvas.res < 0.3) canvas.line(line, width * 0.3, GROUND.grass, 0.45);
    }
    yield;
    this.#tinted(canvas, yard, GROUND.gravel, 0.04, 0.1);
    this.#pad(canvas);
    yield;
    for (const house of houses) this.#shadow(canvas, house);
    count = 0;
    for (const tree of trees) {
      this.#tree(canvas, tree);
      if (++count % 2000 === 0) yield;
    }
    if (canvas.res >= FROM_ABOVE_M)
      for (const { at, length, width, angle, kind, shade } of houses) {
        const roof =
          kind === 'barn' ? BUILT.barnRoof : kind === 'house' ? oneOf(BUILT.roofs, shade) : BUILT.slate;
        canvas.line(endsOf(at, length - width, angle), width, roof);
      }
  }

  /** Spots of light and dark at a place, about -1 to 1. */
  #spots(e: number, n: number, metres: number, tile: Int8Array): number {
    const mask = NOISE_SIDE - 1;
    const scale = 1 / metres;
    const column = Math.floor(e * scale) & mask;
    const row = Math.floor(n * scale) & mask;
    return (tile[row * NOISE_SIDE + column] ?? 0) / 127;
  }

  *#base(canvas: Canvas): Generator<undefined> {
    const { res, half, rgb } = canvas;
    const [r, g, b] = GROUND.grass;
    const grain = res < 2 ? 9 : 4;
    for (let row = 0; row < SIDE; row++) {
      const n = (row + 0.5) * res - half;
      for (let column = 0; column < SIDE; column++) {
        const e = (column + 0.5) * res - half;
        const light =
          this.#spots(e, n, 3, this.#wide) * 12 + this.#spots(e, n, res * 1.01, this.#fine) * grain;
        const at = (row * SIDE + column) * 3;
        rgb[at] = r + light;
        rgb[at + 1] = g + light;
        rgb[at + 2] = b + light * 0.7;
      }
      if (row % 96 === 0) yield;
    }
  }

  #field(canvas: Canvas, { shape, crop, angle, shade }: Field): void {
    const { rgb, res } = canvas;
    const [r, g, b] = shaded(CROP_COLOURS[crop], 0.93 + 0.14 * shade);
    const period =
      crop === 'pasture' || crop === 'clover' ? 0 : crop === 'hay' ? 9 : crop === 'maize' ? 1.6 : 4.5;
    const deep = period === 0 || res > period / 3 ? 0 : crop === 'ploughed' || crop === 'maize' ? 11 : 6;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const waves = (2 * Math.PI) / (period || 1);
    const edge = Math.max(...shape.map(([e, n]) => Math.max(Math.abs(e), Math.abs(n)))) > EXTENT_M - 40;
    const grain = res < 2 ? 6 : 3;
    canvas.polygon(shape, (at, e, n) => {
      let light = this.#spots(e, n, 1.7, this.#wide) * 9 + this.#spots(e, n, res * 1.01, this.#fine) * grain;
      if (deep > 0) light += deep * Math.sin((n * c - e * s) * waves);
      rgb[at] = r + light;
      rgb[at + 1] = g + light;
      rgb[at + 2] = b + light * 0.6;
      if (edge) canvas.blend(at, GROUND.grass, 0.5);
    });
  }

  /** @param wide and fine: how strong the spots are */
  #tinted(canvas: Canvas, shape: Polygon, colour: Rgb, wide: number, fine: number): void {
    const { rgb, res } = canvas;
    canvas.polygon(shape, (at, e, n) => {
      const light =
        1 + this.#spots(e, n, 2, this.#wide) * wide + this.#spots(e, n, res * 1.01, this.#fine) * fine;
      rgb[at] = colour[0] * light;
      rgb[at + 1] = colour[1] * light;
      rgb[at + 2] = colour[2] * light;
    });
  }

  /** In stripes to and fro. */
  #mown(canvas: Canvas, shape: Polygon): void {
    const { rgb, res } = canvas;
    const [[e0, n0], [e1, n1]] = [corner(shape, 0), corner(shape, 1)];
    const length = Math.hypot(e1 - e0, n1 - n0);
    const [de, dn] = [(e1 - e0) / length, (n1 - n0) / length];
    canvas.polygon(shape, (at, e, n) => {
      const across = (e - e0) * de + (n - n0) * dn;
      const colour = Math.floor(across / 3) % 2 === 0 && res < 1.2 ? GROUND.mown : GROUND.lawn;
      const light = this.#spots(e, n, 1.1, this.#wide) * 8 + this.#spots(e, n, res * 1.01, this.#fine) * 6;
      rgb[at] = colour[0] + light;
      rgb[at + 1] = colour[1] + light;
      rgb[at + 2] = colour[2] + light * 0.5;
    });
  }

  #water(canvas: Canvas): void {
    const { at, length, width, angle } = this.#land.pond;
    const ring = (more: number): Polygon =>
      Array.from({ length: 28 }, (_, step): Point => {
        const turn = (step / 28) * 2 * Math.PI;
        const bulge = 1 + 0.09 * Math.sin(3 * turn + 1);
        const [x, y] = [
          Math.cos(turn) * (length / 2 + more) * bulge,
          Math.sin(turn) * (width / 2 + more) * bulge,
        ];
        return [
          at[0] + x * Math.cos(angle) - y * Math.sin(angle),
          at[1] + x * Math.sin(angle) + y * Math.cos(angle),
        ];
      });
    this.#tinted(canvas, ring(1.6), GROUND.shore, 0.1, 0.08);
    this.#tinted(canvas, ring(0), GROUND.water, 0.07, 0.02);
  }

  #dashes(canvas: Canvas, [one, other]: readonly Point[]): void {
    if (one === undefined || other === undefined) return;
    const length = Math.hypot(other[0] - one[0], other[1] - one[1]);
    const [de, dn] = [(other[0] - one[0]) / length, (other[1] - one[1]) / length];
    for (let along = 0; along + 3 < length; along += 9) {
      const from: Point = [one[0] + de * along, one[1] + dn * along];
      canvas.line([from, [from[0] + de * 3, from[1] + dn * 3]], 0.16, GROUND.paint);
    }
  }

  /** Concrete, a ring, and an H for who comes from the south. */
  #pad(canvas: Canvas): void {
    const { at: middle, radius } = PAD;
    canvas.disc(middle, radius + 0.5, GROUND.gravel);
    canvas.disc(middle, radius, GROUND.concrete);
    canvas.disc(middle, radius - 0.45, GROUND.mark);
    canvas.disc(middle, radius - 0.9, GROUND.concrete);
    const turn = 0.12;
    const at = (x: number, y: number): Point => [
      middle[0] + x * Math.cos(turn) - y * Math.sin(turn),
      middle[1] + x * Math.sin(turn) + y * Math.cos(turn),
    ];
    const bar = (from: Point, to: Point): void => canvas.line([from, to], 0.6, GROUND.letter);
    bar(at(-1.5, -2.3), at(-1.5, 2.7));
    bar(at(1.5, -2.3), at(1.5, 2.7));
    bar(at(-1.5, 0.2), at(1.5, 0.2));
  }

  #shadow(canvas: Canvas, { at, length, width, angle, eaves, ridge }: House): void {
    const foot = rectangle(at, length, width, angle);
    const high = (eaves + ridge) / 2;
    const moved = foot.map(([e, n]): Point => [e + AWAY[0] * REACH * high, n + AWAY[1] * REACH * high]);
    const shape = hull([...foot, ...moved]);
    if (reaches(canvas, shape)) canvas.polygon(shape, (texel) => canvas.blend(texel, BLACK, 0.42));
  }

  #tree(canvas: Canvas, { kind, at, height, radius, shade }: Tree): void {
    const { half, res } = canvas;
    if (Math.abs(at[0]) - 30 > half || Math.abs(at[1]) - 30 > half) return;
    const reach = REACH * height;
    const middle: Point = [at[0] + AWAY[0] * reach * 0.55, at[1] + AWAY[1] * reach * 0.55];
    canvas.line([at, middle], radius * 1.7, BLACK, 0.34);
    if (res < FROM_ABOVE_M) return;
    const colour = shaded(LEAVES[kind], 0.85 + 0.3 * shade);
    canvas.disc(at, radius, shaded(colour, 0.82));
    canvas.disc(
      [at[0] - AWAY[0] * radius * 0.3, at[1] - AWAY[1] * radius * 0.3],
      radius * 0.6,
      mixed(colour, GROUND.mown, 0.2),
    );
  }
}

function reaches({ half }: Canvas, shape: Polygon): boolean {
  return (
    shape.some(([e]) => e > -half) &&
    shape.some(([e]) => e < half) &&
    shape.some(([, n]) => n > -half) &&
    shape.some(([, n]) => n < half)
  );
}

function endsOf([e, n]: Point, length: number, angle: number): readonly Point[] {
  const [x, y] = [(Math.cos(angle) * length) / 2, (Math.sin(angle) * length) / 2];
  return [
    [e - x, n - y],
    [e + x, n + y],
  ];
}

/** The smallest convex polygon around these points (Andrew's monotone chain). */
function hull(points: readonly Point[]): Polygon {
  const sorted = points.toSorted(([e0, n0], [e1, n1]) => e0 - e1 || n0 - n1);
  const half = (all: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of all) {
      for (;;) {
        const [one, two] = [chain.at(-2), chain.at(-1)];
        if (one === undefined || two === undefined) break;
        const turn = (two[0] - one[0]) * (point[1] - one[1]) - (two[1] - one[1]) * (point[0] - one[0]);
        if (turn > 0) break;
        chain.pop();
      }
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}
