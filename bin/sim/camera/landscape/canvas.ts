import { corner, type Point, type Polygon } from '../../../../shared/landscape/polygon.ts';
import type { Rgb } from './colours.ts';

/** Texels of one side of a level, a power of two. */
export const SIDE = 1024;

/** One level of the ground while it is painted: a square around the pad, seen from above. The first row is the southernmost. */
export class Canvas {
  readonly rgb = new Uint8ClampedArray(SIDE * SIDE * 3);
  /** Metres to a texel. */
  res = 1;
  /** Metres from the pad to the edge. */
  half = SIDE / 2;

  set(res: number): void {
    this.res = res;
    this.half = (res * SIDE) / 2;
  }

  /** Runs `paint` for each texel of a convex polygon whose centre is inside. @param paint index of the texel, its middle east and north */
  polygon(shape: Polygon, paint: (at: number, e: number, n: number) => void): void {
    if (shape.length < 3) return;
    let [south, north] = [Infinity, -Infinity];
    for (const [, n] of shape) {
      south = Math.min(south, n);
      north = Math.max(north, n);
    }
    const { res, half } = this;
    const first = Math.max(0, Math.ceil((south + half) / res - 0.5));
    const last = Math.min(SIDE - 1, Math.floor((north + half) / res - 0.5));
    for (let row = first; row <= last; row++) {
      const n = (row + 0.5) * res - half;
      let [west, east] = [Infinity, -Infinity];
      for (let at = 0; at < shape.length; at++) {
        const [e0, n0] = corner(shape, at);
        const [e1, n1] = corner(shape, at + 1);
        if (n0 > n === n1 > n) continue;
        const e = e0 + ((n - n0) / (n1 - n0)) * (e1 - e0);
        west = Math.min(west, e);
        east = Math.max(east, e);
      }
      const from = Math.max(0, Math.ceil((west + half) / res - 0.5));
      const to = Math.min(SIDE - 1, Math.floor((east + half) / res - 0.5));
      for (let column = from; column <= to; column++)
        paint((row * SIDE + column) * 3, (column + 0.5) * res - half, n);
    }
  }

  /** A line with round ends, its edges smooth: a road that is thinner than a texel still shows. */
  line(points: readonly Point[], width: number, colour: Rgb, strength = 1): void {
    for (let at = 0; at + 1 < points.length; at++)
      this.#piece(points[at] ?? [0, 0], points[at + 1] ?? [0, 0], width, colour, strength);
  }

  disc(at: Point, radius: number, colour: Rgb, strength = 1): void {
    this.#piece(at, at, 2 * radius, colour, strength);
  }

  blend(at: number, [r, g, b]: Rgb, share: number): void {
    const { rgb } = this;
    rgb[at] = (rgb[at] ?? 0) + (r - (rgb[at] ?? 0)) * share;
    rgb[at + 1] = (rgb[at + 1] ?? 0) + (g - (rgb[at + 1] ?? 0)) * share;
    rgb[at + 2] = (rgb[at + 2] ?? 0) + (b - (rgb[at + 2] ?? 0)) * share;
  }

  #piece([e0, n0]: Point, [e1, n1]: Point, width: number, colour: Rgb, strength: number): void {
    const { res, half } = this;
    const reach = width / 2 + res;
    const within = (metres: number): number =>
      Math.max(0, Math.min(SIDE - 1, Math.floor((metres + half) / res)));
    if (Math.min(e0, e1) - reach > half || Math.max(e0, e1) + reach < -half) return;
    if (Math.min(n0, n1) - reach > half || Math.max(n0, n1) + reach < -half) return;
    const [de, dn] = [e1 - e0, n1 - n0];
    const squared = de * de + dn * dn || 1;
    const most = strength * Math.min(1, width / res);
    const [south, north] = [within(Math.min(n0, n1) - reach), within(Math.max(n0, n1) + reach)];
    const [west, east] = [within(Math.min(e0, e1) - reach), within(Math.max(e0, e1) + reach)];
    for (let row = south; row <= north; row++) {
      const n = (row + 0.5) * res - half;
      for (let column = west; column <= east; column++) {
        const e = (column + 0.5) * res - half;
        const along = Math.max(0, Math.min(1, ((e - e0) * de + (n - n0) * dn) / squared));
        const away = Math.hypot(e - e0 - along * de, n - n0 - along * dn);
        const share = Math.min(1, (width / 2 - away) / res + 0.5) * most;
        if (share > 0) this.blend((row * SIDE + column) * 3, colour, share);
      }
    }
  }
}
