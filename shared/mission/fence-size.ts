import { metresBetween, type Place } from '../flight/seen.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import { CMD } from './commands.ts';

/** Whether a fence lets the vehicle fly where the one before did not. What cannot be told counts as larger. */

interface Circle {
  readonly kind: 'circle';
  readonly at: Place;
  readonly radius: number;
}
interface Polygon {
  readonly kind: 'polygon';
  readonly corners: readonly Place[];
}
type Area = Circle | Polygon;

interface Fence {
  readonly inside: readonly Area[];
  readonly outside: readonly Area[];
}

function fenceOf(items: readonly MissionItem[]): Fence {
  const inside: Area[] = [];
  const outside: Area[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item === undefined) break;
    const { command, param1, x, y } = item;
    const isPolygon = command === CMD.polygonInclusion || command === CMD.polygonExclusion;
    const length = isPolygon ? Math.max(1, param1 ?? 1) : 1;
    if (command !== CMD.returnPoint)
      (command === CMD.polygonInclusion || command === CMD.circleInclusion ? inside : outside).push(
        isPolygon
          ? {
              kind: 'polygon',
              corners: items.slice(at, at + length).map((each) => ({ lat: each.x, lon: each.y })),
            }
          : { kind: 'circle', at: { lat: x, lon: y }, radius: param1 ?? 0 },
      );
    at += length;
  }
  return { inside, outside };
}

/** @param held what the vehicle has @param wanted what it would have */
export function isLarger(wanted: readonly MissionItem[], held: readonly MissionItem[]): boolean {
  const [next, now] = [fenceOf(wanted), fenceOf(held)];
  // One inclusion may be enough, or all may be needed, by firmware and parameter: both readings have to hold.
  const shrinks =
    now.inside.length === 0 ||
    (next.inside.length > 0 &&
      now.inside.every((old) => next.inside.some((area) => isWithin(area, old))) &&
      next.inside.every((area) => now.inside.some((old) => isWithin(area, old))));
  return !shrinks || !now.outside.every((old) => next.outside.some((area) => isWithin(old, area)));
}

interface Flat {
  readonly n: number;
  readonly e: number;
}

const DEGREE_M = 111_195;
/** What a vehicle rounds a place to (1e-7 degrees), and a radius. */
const ROUNDED_M = 0.05;

/** Metres around the place, so that 180 degrees are no border. */
function flat(place: Place, around: Place): Flat {
  const east = ((((place.lon - around.lon + 180) % 360) + 360) % 360) - 180;
  return {
    n: (place.lat - around.lat) * DEGREE_M,
    e: east * DEGREE_M * Math.cos((around.lat * Math.PI) / 180),
  };
}

function isWithin(small: Area, large: Area): boolean {
  if (large.kind === 'circle') {
    const limit = large.radius + ROUNDED_M;
    return small.kind === 'circle'
      ? metresBetween(small.at, large.at) + small.radius <= limit
      : small.corners.every((corner) => metresBetween(corner, large.at) <= limit);
  }
  const [origin] = large.corners;
  if (origin === undefined) return false;
  const border = large.corners.map((corner) => flat(corner, origin));
  if (small.kind === 'circle') {
    const middle = flat(small.at, origin);
    return holds(border, middle) && toBorder(border, middle) + ROUNDED_M >= small.radius;
  }
  const corners = small.corners.map((corner) => flat(corner, origin));
  const near = (point: Flat): boolean => holds(border, point) || toBorder(border, point) <= ROUNDED_M;
  // Also between its corners: where the border is bent inwards, a side may leave it.
  return (
    sidesOf(corners).every(([a, b]) => STEPS.every((part) => near(between(a, b, part)))) &&
    border.every((corner) => !holds(corners, corner) || toBorder(corners, corner) <= ROUNDED_M)
  );
}

const STEPS: readonly number[] = Array.from({ length: 33 }, (_, step) => step / 32);

function between(a: Flat, b: Flat, part: number): Flat {
  return { n: a.n + (b.n - a.n) * part, e: a.e + (b.e - a.e) * part };
}

function sidesOf(corners: readonly Flat[]): readonly (readonly [Flat, Flat])[] {
  return corners.flatMap((corner, index) => {
    const next = corners[(index + 1) % corners.length];
    return next === undefined ? [] : [[corner, next] as const];
  });
}

function holds(border: readonly Flat[], { n, e }: Flat): boolean {
  let inside = false;
  for (const [a, b] of sidesOf(border))
    if (a.n > n !== b.n > n && e < a.e + ((n - a.n) * (b.e - a.e)) / (b.n - a.n)) inside = !inside;
  return inside;
}

/** m to the nearest side. */
function toBorder(border: readonly Flat[], point: Flat): number {
  let nearest = Infinity;
  for (const [a, b] of sidesOf(border)) {
    const [n, e] = [b.n - a.n, b.e - a.e];
    const length = n * n + e * e;
    const part = length === 0 ? 0 : ((point.n - a.n) * n + (point.e - a.e) * e) / length;
    const at = between(a, b, Math.max(0, Math.min(1, part)));
    nearest = Math.min(nearest, Math.hypot(point.n - at.n, point.e - at.e));
  }
  return nearest;
}
