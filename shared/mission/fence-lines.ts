import type { MissionItem } from '../schemas/mission-item.ts';
import { type Flat, type LatLon, Plane } from './patterns/plane.ts';
import { isInside } from './patterns/polygon.ts';
import { shapesOf } from './shapes.ts';

interface Zone {
  readonly inside: boolean;
  readonly corners: readonly Flat[];
  /** m; null: a polygon. */
  readonly radius: number | null;
}

/** Whether a flight stays within the polygons and circles of a fence, at its places and on the ways between them. */
export class FenceLines {
  readonly #plane: Plane;
  readonly #within: readonly Zone[];
  readonly #without: readonly Zone[];
  readonly #union: boolean;

  /** @param union whether it is enough to be inside of one of those to stay in (PX4; FENCE_OPTIONS of ArduPilot); else each counts */
  constructor(fence: readonly MissionItem[], origin: LatLon, union = false) {
    this.#plane = new Plane(origin);
    this.#union = union;
    const zones = shapesOf(fence).flatMap(({ kind, inside, from, count }): readonly Zone[] => {
      const corners = fence
        .slice(from, from + count)
        .map(({ x, y }) => this.#plane.toFlat({ lat: x, lon: y }));
      if (kind === 'return' || (kind === 'polygon' && corners.length < 3)) return [];
      return [{ inside, corners, radius: kind === 'circle' ? (fence[from]?.param1 ?? 0) : null }];
    });
    this.#within = zones.filter(({ inside }) => inside);
    this.#without = zones.filter(({ inside }) => !inside);
  }

  /** Whether the way from one place to another (or the place alone) breaks it. */
  isBroken(from: LatLon | null, to: LatLon): boolean {
    const b = this.#plane.toFlat(to);
    const a = from === null ? b : this.#plane.toFlat(from);
    if (this.#without.some((zone) => partsOf(a, b, [zone]).some((point) => contains(zone, point))))
      return true;
    if (this.#within.length === 0) return false;
    if (!this.#union)
      return this.#within.some((zone) => partsOf(a, b, [zone]).some((point) => !contains(zone, point)));
    return partsOf(a, b, this.#within).some((point) => !this.#within.some((zone) => contains(zone, point)));
  }
}

/** A point of each part of a way that borders cut it into, with both of its ends. */
function partsOf(a: Flat, b: Flat, zones: readonly Zone[]): readonly Flat[] {
  const cuts = zones.flatMap((zone) => cutsOf(a, b, zone)).filter((t) => t > 0 && t < 1);
  const ends = [0, ...cuts.toSorted((one, other) => one - other), 1];
  const middles = ends.slice(1).map((end, at) => ((ends[at] ?? 0) + end) / 2);
  return [a, ...middles.map((t) => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t })), b];
}

function contains({ corners, radius }: Zone, point: Flat): boolean {
  const [centre] = corners;
  if (radius === null) return isInside(corners, point);
  return centre !== undefined && Math.hypot(point.x - centre.x, point.y - centre.y) <= radius;
}

/** Where a way meets the border, in parts of it. */
function cutsOf(a: Flat, b: Flat, { corners, radius }: Zone): readonly number[] {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  if (radius === null)
    return corners.flatMap((c, at) => {
      const d = corners[(at + 1) % corners.length] ?? c;
      const [ex, ey] = [d.x - c.x, d.y - c.y];
      const across = dx * ey - dy * ex;
      if (across === 0) return []; // along it
      const part = ((c.x - a.x) * dy - (c.y - a.y) * dx) / across;
      return part < 0 || part > 1 ? [] : [((c.x - a.x) * ey - (c.y - a.y) * ex) / across];
    });
  const [centre = a] = corners;
  const [x, y] = [a.x - centre.x, a.y - centre.y];
  const square = dx * dx + dy * dy;
  const along = x * dx + y * dy;
  const root = along * along - square * (x * x + y * y - radius * radius);
  if (square === 0 || root < 0) return [];
  return [(-along - Math.sqrt(root)) / square, (-along + Math.sqrt(root)) / square];
}
