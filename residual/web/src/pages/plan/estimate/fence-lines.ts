import { type Flat, type LatLon, Plane } from '../../../../../../shared/mission/patterns/plane.ts';
import { isInside } from '../../../../../../shared/mission/patterns/polygon.ts';
import { type Items, placeOf } from '../list.ts';
import { shapesOf } from '../shapes.ts';

/** Whether a flight stays within a fence. */

interface Zone {
  readonly inside: boolean;
  readonly corners: readonly Flat[];
  /** m; null: a polygon. */
  readonly radius: number | null;
}

export class FenceLines {
  readonly #plane: Plane;
  readonly #zones: readonly Zone[];

  constructor(fence: Items, origin: LatLon) {
    this.#plane = new Plane(origin);
    this.#zones = shapesOf(fence).flatMap(({ kind, inside, from, count }) => {
      const corners = fence.slice(from, from + count).map((item) => this.#plane.toFlat(placeOf(item)));
      if (kind === 'return' || (kind === 'polygon' && corners.length < 3)) return [];
      return [{ inside, corners, radius: kind === 'circle' ? (fence[from]?.param1 ?? 0) : null }];
    });
  }

  /** Whether the way from one place to another (or the place alone) breaks it. With several to stay inside of, each counts. */
  isBroken(from: LatLon | null, to: LatLon): boolean {
    const b = this.#plane.toFlat(to);
    const a = from === null ? b : this.#plane.toFlat(from);
    return this.#zones.some((zone) => (zone.inside ? leaves(zone, a, b) : enters(zone, a, b)));
  }
}

function leaves(zone: Zone, a: Flat, b: Flat): boolean {
  return !contains(zone, b) || crosses(zone, a, b);
}

function enters(zone: Zone, a: Flat, b: Flat): boolean {
  return contains(zone, b) || contains(zone, a) || crosses(zone, a, b);
}

function contains({ corners, radius }: Zone, point: Flat): boolean {
  const [centre] = corners;
  if (radius === null) return isInside(corners, point);
  return centre !== undefined && Math.hypot(point.x - centre.x, point.y - centre.y) <= radius;
}

function crosses({ inside, corners, radius }: Zone, a: Flat, b: Flat): boolean {
  if (radius === null)
    return corners.some((c, at) => areCrossing(a, b, c, corners[(at + 1) % corners.length] ?? c));
  const [centre] = corners;
  // A way between two points inside of a circle stays inside.
  return !inside && centre !== undefined && nearest(a, b, centre) <= radius;
}

function areCrossing(a: Flat, b: Flat, c: Flat, d: Flat): boolean {
  const side = (p: Flat, q: Flat, r: Flat): number => (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

function nearest(a: Flat, b: Flat, point: Flat): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const square = dx * dx + dy * dy;
  const part = square === 0 ? 0 : ((point.x - a.x) * dx + (point.y - a.y) * dy) / square;
  const t = Math.max(0, Math.min(1, part));
  return Math.hypot(a.x + dx * t - point.x, a.y + dy * t - point.y);
}
