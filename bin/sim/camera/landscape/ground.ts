import { SIDE } from './canvas.ts';
import { GROUND, yuv } from './colours.ts';
import { FINEST_M, type GroundLevels, LEVELS } from './ground-levels.ts';
import { type HazeTables, STEPS, stepOf } from './haze.ts';
import type { Planes } from './planes.ts';
import { Sky } from './sky.ts';
import type { View } from './view.ts';

/** Pixels of a row between two exact points; between them the ground is taken for flat in the picture, too. */
const SPAN = 16;
/** A ray that goes down less than this, per metre ahead, counts as one to the sky. */
const LEVEL = 1e-4;
/** Steps of how steeply a ray goes down; the table covers all that a camera sees. */
const SLOPES = 2048;
const PER_SLOPE = 1024;
const HALF = SIDE / 2;
/** Two texels less: what is drawn between texels reads the next ones. */
const FINEST_HALF = FINEST_M * (HALF - 2);
/** Beyond this the ground has one colour. */
const REACH_M = FINEST_HALF * 2 ** (LEVELS - 1);
/** A texel may be so many pixels wide before it is drawn smoothly. */
const BLUR_FROM = 1.4;

/**
 * Draws ground and sky: a ray for each pixel, where it meets the ground, and the colour there from the level whose texels are as large
 * as the pixel. Only every sixteenth pixel is divided out. No memory is taken for a picture.
 */
export class Ground {
  readonly #levels: GroundLevels;
  readonly #haze: HazeTables;
  readonly #sky = new Sky();
  /** By slope, for the present height: the level, the step of haze times 256, and whether texels are larger than pixels. */
  readonly #level = new Uint8Array(SLOPES);
  readonly #fade = new Uint16Array(SLOPES);
  readonly #pixel = new Float32Array(SLOPES);
  readonly #beyond = { y: new Uint8Array(STEPS), u: new Uint8Array(STEPS), v: new Uint8Array(STEPS) };

  constructor(levels: GroundLevels, haze: HazeTables) {
    this.#levels = levels;
    this.#haze = haze;
    const [y, u, v] = yuv(GROUND.grass);
    for (let step = 0; step < STEPS; step++) {
      this.#beyond.y[step] = haze.y[step * 256 + y] ?? 0;
      this.#beyond.u[step] = haze.u[step * 256 + u] ?? 0;
      this.#beyond.v[step] = haze.v[step * 256 + v] ?? 0;
    }
  }

  draw(view: View, planes: Planes): void {
    this.#scale(view);
    const { focal, width, height, ahead, right, down, up } = view;
    for (let part = 0; part < 2; part++) {
      const isLuma = part === 0;
      // Colours have half as many pixels.
      const size = isLuma ? 1 : 2;
      const [columns, rows] = [width / size, height / size];
      const step = size / focal;
      const stride = planes.strides[isLuma ? 0 : 1];
      for (let row = 0; row < rows; row++) {
        const y = (row + 0.5 - rows / 2) * step;
        const x = (0.5 - columns / 2) * step;
        const d0 = ahead.d + y * down.d + x * right.d;
        const e0 = ahead.e + y * down.e + x * right.e;
        const n0 = ahead.n + y * down.n + x * right.n;
        const dd = right.d * step;
        // Where the row crosses the horizon.
        const crossing = dd === 0 ? (d0 > LEVEL ? -1 : columns) : (LEVEL - d0) / dd;
        const cut = Math.max(0, Math.min(columns, Math.ceil(crossing)));
        const isSkyFirst = dd >= 0;
        const [from, to] = isSkyFirst ? [cut, columns] : [0, cut];
        const at = row * stride;
        const [skyFrom, skyTo] = isSkyFirst ? [0, cut] : [cut, columns];
        if (isLuma) {
          this.#luma(planes.y, at, from, to, d0, dd, e0, right.e * step, n0, right.n * step, view);
          if (skyTo > skyFrom)
            this.#sky.luma(planes.y, at, skyFrom, skyTo, d0, dd, e0, right.e * step, n0, right.n * step);
        } else {
          const atV = row * planes.strides[2];
          this.#chroma(planes, at, atV, from, to, d0, dd, e0, right.e * step, n0, right.n * step, up, view);
          if (skyTo > skyFrom) this.#sky.chroma(planes, at, atV, skyFrom, skyTo, d0, dd);
        }
      }
    }
  }

  /** For each slope the level, by the size of a pixel on the ground. */
  #scale({ up, focal }: View): void {
    for (let slope = 0; slope < SLOPES; slope++) {
      const metres = up / ((slope + 0.5) / PER_SLOPE);
      // Between how wide and how long it is: it lies in the picture at a flat angle.
      const pixel = (metres / focal) * Math.max(1, metres / up) ** 0.35;
      this.#pixel[slope] = pixel;
      this.#level[slope] = Math.max(0, Math.min(LEVELS - 1, Math.round(Math.log2(pixel / FINEST_M))));
      this.#fade[slope] = stepOf(metres) << 8;
    }
  }

  #luma(
    out: Uint8Array,
    row: number,
    from: number,
    to: number,
    d0: number,
    dd: number,
    e0: number,
    de: number,
    n0: number,
    dn: number,
    view: View,
  ): void {
    const { luma } = this.#levels;
    const { y: haze } = this.#haze;
    const { e: ownE, n: ownN, up } = view;
    let down = Math.max(LEVEL, d0 + from * dd);
    let reach = up / down;
    let e = ownE + reach * (e0 + from * de);
    let n = ownN + reach * (n0 + from * dn);
    for (let x = from; x < to; ) {
      const count = Math.min(SPAN, to - x);
      const next = x + count;
      const down2 = Math.max(LEVEL, d0 + next * dd);
      reach = up / down2;
      const e2 = ownE + reach * (e0 + next * de);
      const n2 = ownN + reach * (n0 + next * dn);
      const slope = Math.min(SLOPES - 1, (Math.max(down, down2) * PER_SLOPE) | 0);
      const fade = this.#fade[slope] ?? 0;
      const away = Math.max(Math.abs(e), Math.abs(e2), Math.abs(n), Math.abs(n2));
      let at = row + x;
      const end = at + count;
      if (away >= REACH_M) {
        out.fill(this.#beyond.y[fade >> 8] ?? 0, at, end);
      } else {
        const level = Math.max(this.#level[slope] ?? 0, 32 - Math.clz32(away / FINEST_HALF));
        const res = FINEST_M * 2 ** level;
        // Texels with 16 bits behind the point.
        const scale = 65_536 / res;
        const half = HALF * 65_536;
        let u = (e * scale + half) | 0;
        let v = (n * scale + half) | 0;
        const du = (((e2 - e) * scale) / count) | 0;
        const dv = (((n2 - n) * scale) / count) | 0;
        const base = level * SIDE * SIDE;
        if (res > BLUR_FROM * (this.#pixel[slope] ?? 0))
          for (; at < end; at++) {
            const texel = base + (((v >> 16) & (SIDE - 1)) << 10) + ((u >> 16) & (SIDE - 1));
            const across = (u >> 8) & 255;
            const southWest = luma[texel] ?? 0;
            const northWest = luma[texel + SIDE] ?? 0;
            const south = (southWest << 8) + ((luma[texel + 1] ?? 0) - southWest) * across;
            const north = (northWest << 8) + ((luma[texel + SIDE + 1] ?? 0) - northWest) * across;
            out[at] = haze[fade | (((south << 8) + (north - south) * ((v >> 8) & 255)) >> 16)] ?? 0;
            u = (u + du) | 0;
            v = (v + dv) | 0;
          }
        else
          for (; at < end; at++) {
            out[at] =
              haze[fade | (luma[base + (((v >> 16) & (SIDE - 1)) << 10) + ((u >> 16) & (SIDE - 1))] ?? 0)] ??
              0;
            u = (u + du) | 0;
            v = (v + dv) | 0;
          }
      }
      down = down2;
      e = e2;
      n = n2;
      x = next;
    }
  }

  #chroma(
    { u: outU, v: outV }: Planes,
    rowU: number,
    rowV: number,
    from: number,
    to: number,
    d0: number,
    dd: number,
    e0: number,
    de: number,
    n0: number,
    dn: number,
    up: number,
    view: View,
  ): void {
    const { chroma } = this.#levels;
    const { u: hazeU, v: hazeV } = this.#haze;
    const { e: ownE, n: ownN } = view;
    let down = Math.max(LEVEL, d0 + from * dd);
    let reach = up / down;
    let e = ownE + reach * (e0 + from * de);
    let n = ownN + reach * (n0 + from * dn);
    for (let x = from; x < to; ) {
      const count = Math.min(SPAN / 2, to - x);
      const next = x + count;
      const down2 = Math.max(LEVEL, d0 + next * dd);
      reach = up / down2;
      const e2 = ownE + reach * (e0 + next * de);
      const n2 = ownN + reach * (n0 + next * dn);
      const slope = Math.min(SLOPES - 1, (Math.max(down, down2) * PER_SLOPE) | 0);
      const fade = this.#fade[slope] ?? 0;
      const away = Math.max(Math.abs(e), Math.abs(e2), Math.abs(n), Math.abs(n2));
      let at = x;
      if (away >= REACH_M) {
        outU.fill(this.#beyond.u[fade >> 8] ?? 0, rowU + at, rowU + next);
        outV.fill(this.#beyond.v[fade >> 8] ?? 0, rowV + at, rowV + next);
      } else {
        const level = Math.max(this.#level[slope] ?? 0, 32 - Math.clz32(away / FINEST_HALF));
        const scale = 32_768 / (FINEST_M * 2 ** level);
        const half = HALF * 32_768;
        let u = (e * scale + half) | 0;
        let v = (n * scale + half) | 0;
        const du = (((e2 - e) * scale) / count) | 0;
        const dv = (((n2 - n) * scale) / count) | 0;
        const base = level * HALF * HALF;
        for (; at < next; at++) {
          const both = chroma[base + (((v >> 16) & (HALF - 1)) << 9) + ((u >> 16) & (HALF - 1))] ?? 0;
          outU[rowU + at] = hazeU[fade | (both >> 8)] ?? 0;
          outV[rowV + at] = hazeV[fade | (both & 255)] ?? 0;
          u = (u + du) | 0;
          v = (v + dv) | 0;
        }
      }
      down = down2;
      e = e2;
      n = n2;
      x = next;
    }
  }
}
