import type { House } from '../../../../shared/landscape/parts.ts';
import { type Brush, NEAREST_M } from './brush.ts';
import { BUILT, LIGHT, oneOf, type Rgb, shaded, yuv } from './colours.ts';
import { type HazeTables, stepOf } from './haze.ts';
import type { View } from './view.ts';

/** Metres: along the ridge, across it, up. */
type Local = readonly [along: number, across: number, up: number];

/** One flat side of a house. */
interface Face {
  /** East, north, up of each corner, one after the other. */
  readonly corners: Float64Array;
  /** Where it looks to. */
  readonly normal: Local;
  readonly colour: readonly [number, number, number];
  /** Windows and doors: only from near. */
  readonly isDetail: boolean;
}

const DETAIL_M = 260;
/** How bright a side is that the sun does not reach, and how much the sun adds. */
const SHADE = 0.66;
const SUN = 0.42;
/** A roof overhangs. */
const OVERHANG_M = 0.5;

/** A house as flat sides in the order in which they are painted. */
export class Building {
  readonly e: number;
  readonly n: number;
  readonly #faces: Face[] = [];
  readonly #house: House;
  readonly #x = new Float64Array(16);
  readonly #y = new Float64Array(16);
  readonly #z = new Float64Array(16);

  constructor(house: House) {
    this.#house = house;
    [this.e, this.n] = house.at;
    this.#build();
  }

  draw(view: View, brush: Brush, haze: HazeTables): void {
    const distance = Math.hypot(this.e - view.e, this.n - view.n, view.up);
    const fade = stepOf(distance) << 8;
    for (const { corners, normal, colour, isDetail } of this.#faces) {
      if (isDetail && distance > DETAIL_M) continue;
      const [e = 0, n = 0, up = 0] = corners;
      if ((view.e - e) * normal[0] + (view.n - n) * normal[1] + (view.up - up) * normal[2] <= 0) continue;
      brush.y = haze.y[fade | colour[0]] ?? 0;
      brush.u = haze.u[fade | colour[1]] ?? 0;
      brush.v = haze.v[fade | colour[2]] ?? 0;
      this.#face(view, brush, corners);
    }
  }

  #face(view: View, brush: Brush, corners: Float64Array): void {
    const count = corners.length / 3;
    for (let at = 0; at < count; at++) {
      const e = corners[3 * at] ?? 0;
      const n = corners[3 * at + 1] ?? 0;
      const up = corners[3 * at + 2] ?? 0;
      this.#x[at] = view.across(e, n, up);
      this.#y[at] = view.below(e, n, up);
      this.#z[at] = view.depth(e, n, up);
    }
    const { focal, width, height } = view;
    brush.clear();
    for (let at = 0; at < count; at++) {
      const next = (at + 1) % count;
      const [x, y, z] = [this.#x[at] ?? 0, this.#y[at] ?? 0, this.#z[at] ?? 0];
      const z2 = this.#z[next] ?? 0;
      if (z >= NEAREST_M) brush.corner(width / 2 + (focal * x) / z, height / 2 + (focal * y) / z);
      if (z >= NEAREST_M === z2 >= NEAREST_M) continue;
      const share = (NEAREST_M - z) / (z2 - z);
      const cutX = x + ((this.#x[next] ?? 0) - x) * share;
      const cutY = y + ((this.#y[next] ?? 0) - y) * share;
      brush.corner(width / 2 + (focal * cutX) / NEAREST_M, height / 2 + (focal * cutY) / NEAREST_M);
    }
    brush.fill();
  }

  #build(): void {
    const { kind, length, width, eaves, ridge, shade } = this.#house;
    const [l, w] = [length / 2, width / 2];
    const isBarn = kind === 'barn';
    const isStone = kind === 'church' || kind === 'tower';
    const wall = isBarn ? BUILT.barn : isStone ? BUILT.stone : oneOf(BUILT.walls, (shade * 7) % 1);
    const roof = isBarn ? BUILT.barnRoof : isStone ? BUILT.slate : oneOf(BUILT.roofs, shade);
    const box = (side: 1 | -1): void => {
      this.#add(
        [
          [side * l, -w * side, 0],
          [side * l, w * side, 0],
          [side * l, w * side, eaves],
          [side * l, -w * side, eaves],
        ],
        wall,
      );
      this.#add(
        [
          [l * side, side * w, 0],
          [-l * side, side * w, 0],
          [-l * side, side * w, eaves],
          [l * side, side * w, eaves],
        ],
        wall,
      );
    };
    box(1);
    box(-1);
    if (kind === 'tower') {
      const top: Local = [0, 0, ridge];
      for (const [a, b] of [
        [
          [l, -w],
          [l, w],
        ],
        [
          [l, w],
          [-l, w],
        ],
        [
          [-l, w],
          [-l, -w],
        ],
        [
          [-l, -w],
          [l, -w],
        ],
      ] as const)
        this.#add([[a[0], a[1], eaves], [b[0], b[1], eaves], top], roof);
      this.#windows(eaves * 0.72, 2.4, 1);
      return;
    }
    for (const side of [1, -1] as const)
      this.#add(
        [
          [side * l, -side * w, eaves],
          [side * l, side * w, eaves],
          [side * l, 0, ridge],
        ],
        wall,
      );
    if (isBarn) this.#gate();
    else {
      const storeys = Math.max(1, Math.floor(eaves / 2.7));
      for (let storey = 0; storey < storeys; storey++)
        this.#windows(
          0.95 + 2.7 * storey,
          isStone ? 4 : 1.3,
          Math.max(2, Math.round(length / 3.4)),
          storey === 0 && !isStone,
        );
    }
    const over = l + OVERHANG_M;
    const steep = (ridge - eaves) / w;
    const edge = w + OVERHANG_M;
    const low = eaves - steep * OVERHANG_M;
    for (const side of [1, -1] as const)
      this.#add(
        [
          [side * over, side * edge, low],
          [-side * over, side * edge, low],
          [-side * over, 0, ridge],
          [side * over, 0, ridge],
        ],
        roof,
      );
    if (kind === 'house' && length > 9) this.#chimney();
  }

  /** Rows of windows on the long sides. */
  #windows(up: number, high: number, count: number, door = false): void {
    const { length, width } = this.#house;
    for (const side of [1, -1] as const)
      for (let at = 0; at < count; at++) {
        const middle = ((at + 0.5) / count - 0.5) * (length - 1) * side;
        const isDoor = door && at === Math.floor(count / 2);
        const [low, half] = isDoor ? [0, 0.6] : [up, 0.55];
        const across = side * (width / 2 + 0.04);
        const top = isDoor ? 2.2 : up + high;
        this.#add(
          [
            [middle + side * half, across, low],
            [middle - side * half, across, low],
            [middle - side * half, across, top],
            [middle + side * half, across, top],
          ],
          isDoor ? BUILT.door : BUILT.window,
          true,
        );
      }
  }

  /** A barn's doors at both ends. */
  #gate(): void {
    const { length, width, eaves } = this.#house;
    const half = Math.min(2.6, width / 3);
    const top = eaves * 0.85;
    for (const side of [1, -1] as const) {
      const along = side * (length / 2 + 0.05);
      const face = (inner: number, high: number, colour: Rgb): void =>
        this.#add(
          [
            [along, -side * inner, 0],
            [along, side * inner, 0],
            [along, side * inner, high],
            [along, -side * inner, high],
          ],
          colour,
          true,
        );
      face(half + 0.25, top + 0.25, [232, 228, 220]);
      face(half, top, [84, 60, 52]);
    }
  }

  #chimney(): void {
    const { length, ridge } = this.#house;
    const [at, half, low, top] = [length * 0.24, 0.45, ridge - 1.1, ridge + 1.1];
    for (const side of [1, -1] as const) {
      this.#add(
        [
          [at + side * half, -side * half, low],
          [at + side * half, side * half, low],
          [at + side * half, side * half, top],
          [at + side * half, -side * half, top],
        ],
        BUILT.chimney,
      );
      this.#add(
        [
          [at + side * half, side * half, low],
          [at - side * half, side * half, low],
          [at - side * half, side * half, top],
          [at + side * half, side * half, top],
        ],
        BUILT.chimney,
      );
    }
  }

  /** @param corners anticlockwise from outside */
  #add(corners: readonly Local[], colour: Rgb, isDetail = false): void {
    const { angle } = this.#house;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const world = corners.map(
      ([along, across, up]): Local => [this.e + along * c - across * s, this.n + along * s + across * c, up],
    );
    const [one, two, three] = world;
    if (one === undefined || two === undefined || three === undefined) return;
    const [ax, ay, az] = [two[0] - one[0], two[1] - one[1], two[2] - one[2]];
    const [bx, by, bz] = [three[0] - two[0], three[1] - two[1], three[2] - two[2]];
    const normal: Local = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    const size = Math.hypot(...normal) || 1;
    const lit = Math.max(0, -(normal[0] * LIGHT.e + normal[1] * LIGHT.n + normal[2] * LIGHT.u) / size);
    this.#faces.push({
      corners: Float64Array.from(world.flat()),
      normal,
      colour: yuv(shaded(colour, SHADE + SUN * lit)),
      isDetail,
    });
  }
}
