import { apart, type Flat, turnedNorth } from './plane.ts';

/** What patterns need to know of a polygon, which is the list of its corners in either sense. */

/** Twice the area of a triangle; above 0 where the way turns left. */
function cross(a: Flat, b: Flat, c: Flat): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** m² */
export function area(polygon: readonly Flat[]): number {
  return Math.abs(signedArea(polygon));
}

function signedArea(polygon: readonly Flat[]): number {
  const [origin] = polygon;
  if (origin === undefined) return 0;
  return polygon.reduce((sum, b, at) => sum + cross(origin, polygon[at - 1] ?? origin, b), 0) / 2;
}

/** The pairs of neighbours, the last with the first. */
function sides(polygon: readonly Flat[]): readonly (readonly [Flat, Flat])[] {
  return polygon.map((a, at) => [a, polygon[at + 1] ?? polygon[0] ?? a]);
}

/** Whether two of its sides cross. It takes the square of the number of corners. */
export function crossesItself(polygon: readonly Flat[]): boolean {
  const all = sides(polygon);
  return all.some(([a, b], at) =>
    all.slice(at + 1).some(([c, d]) => {
      if (c === b || d === a) return false;
      return cross(a, b, c) * cross(a, b, d) < 0 && cross(c, d, a) * cross(c, d, b) < 0;
    }),
  );
}

export function isInside(polygon: readonly Flat[], { x, y }: Flat): boolean {
  return sides(polygon).reduce((inside, [a, b]) => {
    const crosses = a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x;
    return crosses ? !inside : inside;
  }, false);
}

/** The convex polygon around the points, anticlockwise; fewer than 3 where they lie on one line. */
export function hull(points: readonly Flat[]): readonly Flat[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const half = (from: readonly Flat[]): Flat[] => {
    const kept: Flat[] = [];
    for (const point of from) {
      for (;;) {
        const [a, b] = kept.slice(-2);
        if (a === undefined || b === undefined || cross(a, b, point) > 0) break;
        kept.pop();
      }
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** Where a line north at `x` enters and leaves the polygon, from south to north. */
export function crossings(polygon: readonly Flat[], x: number): readonly (readonly [number, number])[] {
  const at = sides(polygon)
    .flatMap(([a, b]) => (a.x <= x === b.x <= x ? [] : [a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x)]))
    .toSorted((a, b) => a - b);
  return at.flatMap((from, index) => {
    const to = at[index + 1];
    return index % 2 === 0 && to !== undefined ? [[from, to] as const] : [];
  });
}

/** The heading of parallel lines that need the fewest turns: along the side across which the polygon is narrowest, 0 to 180 degrees. */
export function bestHeading(polygon: readonly Flat[]): number {
  let best = { heading: 0, width: Number.POSITIVE_INFINITY };
  const corners = hull(polygon);
  for (const [a, b] of sides(corners)) {
    if (apart(a, b) === 0) continue;
    const heading = ((Math.atan2(b.x - a.x, b.y - a.y) * 180) / Math.PI + 360) % 180;
    const xs = corners.map((corner) => turnedNorth(corner, heading).x);
    const width = Math.max(...xs) - Math.min(...xs);
    if (width < best.width - 1e-6) best = { heading, width };
  }
  return best.heading;
}

/** More than this between two legs of a way around a corner would come too near to it. */
const MAX_TURN = Math.PI / 2;

/**
 * The way around all points that nowhere comes nearer to them than `metres`, anticlockwise. It goes around their hull, so that a notch
 * is never flown into.
 */
export function around(points: readonly Flat[], metres: number): readonly Flat[] {
  const corners = hull(points);
  return corners.flatMap((corner, at) => {
    const before = corners[(at + corners.length - 1) % corners.length] ?? corner;
    const after = corners[(at + 1) % corners.length] ?? corner;
    // Outwards of an anticlockwise polygon is to the right of its sides.
    const first = Math.atan2(corner.y - before.y, corner.x - before.x) - Math.PI / 2;
    const last = Math.atan2(after.y - corner.y, after.x - corner.x) - Math.PI / 2;
    const turn = (last - first + 4 * Math.PI) % (2 * Math.PI);
    const parts = Math.max(1, Math.ceil(turn / MAX_TURN - 1e-9));
    const far = metres / Math.cos(turn / parts / 2);
    return Array.from({ length: parts }, (_, part) => {
      const angle = first + ((part + 0.5) * turn) / parts;
      return { x: corner.x + far * Math.cos(angle), y: corner.y + far * Math.sin(angle) };
    });
  });
}

/** A line that runs beside another, `metres` to its right (negative: left). */
export function beside(line: readonly Flat[], metres: number): readonly Flat[] {
  const legs = line.slice(1).flatMap((b, at) => {
    const a = line[at];
    if (a === undefined || apart(a, b) === 0) return [];
    const length = apart(a, b);
    const shift = { x: ((b.y - a.y) / length) * metres, y: (-(b.x - a.x) / length) * metres };
    return [{ a: plus(a, shift), b: plus(b, shift), heading: Math.atan2(b.x - a.x, b.y - a.y) }];
  });
  return legs.flatMap((leg, at) => {
    const next = legs[at + 1];
    const start = at === 0 ? [leg.a] : [];
    if (next === undefined) return [...start, leg.b];
    const turn = Math.abs(((next.heading - leg.heading + 3 * Math.PI) % (2 * Math.PI)) - Math.PI);
    // Sharper, the corner would lie far out: the two ends are flown to instead.
    if (turn > MAX_TURN) return [...start, leg.b, next.a];
    const length = apart(leg.a, leg.b);
    // Inside of a turn the line is shorter; never by so much that it would run backwards.
    const least = -Math.min(length, apart(next.a, next.b)) / 2;
    const stretch = Math.max(least, metres * Math.tan(turn / 2) * senseOf(leg, next));
    return [
      ...start,
      {
        x: leg.b.x + ((leg.b.x - leg.a.x) / length) * stretch,
        y: leg.b.y + ((leg.b.y - leg.a.y) / length) * stretch,
      },
    ];
  });
}

/** -1 for a turn to the right, on whose side a line beside is shorter; else 1. */
function senseOf(leg: { heading: number }, next: { heading: number }): number {
  return Math.sin(next.heading - leg.heading) > 0 ? -1 : 1;
}

function plus(a: Flat, b: Flat): Flat {
  return { x: a.x + b.x, y: a.y + b.y };
}
