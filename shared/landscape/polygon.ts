/** Metres east and north of the landing pad. */
export type Point = readonly [e: number, n: number];

/** Corners of a convex polygon, anticlockwise from above. */
export type Polygon = readonly Point[];

export function areaOf(polygon: Polygon): number {
  let sum = 0;
  for (let at = 0; at < polygon.length; at++) {
    const [e0, n0] = corner(polygon, at);
    const [e1, n1] = corner(polygon, at + 1);
    sum += e0 * n1 - e1 * n0;
  }
  return sum / 2;
}

export function centreOf(polygon: Polygon): Point {
  let e = 0;
  let n = 0;
  for (const [ce, cn] of polygon) {
    e += ce / polygon.length;
    n += cn / polygon.length;
  }
  return [e, n];
}

/** Corner number `at`, round and round. */
export function corner(polygon: Polygon, at: number): Point {
  return polygon[at % polygon.length] ?? [0, 0];
}

/** The part of it on the left of the line from `from` in direction `angle` (rad, anticlockwise from east); empty: nothing. */
export function leftOf(polygon: Polygon, from: Point, angle: number): Polygon {
  const side = ([e, n]: Point): number => Math.cos(angle) * (n - from[1]) - Math.sin(angle) * (e - from[0]);
  const kept: Point[] = [];
  for (let at = 0; at < polygon.length; at++) {
    const one = corner(polygon, at);
    const next = corner(polygon, at + 1);
    const [here, there] = [side(one), side(next)];
    if (here >= 0) kept.push(one);
    if (here >= 0 !== there >= 0) kept.push(between(one, next, here / (here - there)));
  }
  return kept.length < 3 ? [] : kept;
}

/** Each side moved inwards. @param metres how far. @returns empty: nothing is left */
export function inset(polygon: Polygon, metres: number): Polygon {
  let left = polygon;
  for (let at = 0; at < polygon.length && left.length > 0; at++) {
    const [e0, n0] = corner(polygon, at);
    const [e1, n1] = corner(polygon, at + 1);
    const angle = Math.atan2(n1 - n0, e1 - e0);
    left = leftOf(left, [e0 - Math.sin(angle) * metres, n0 + Math.cos(angle) * metres], angle);
  }
  return left;
}

export function between(from: Point, to: Point, share: number): Point {
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

export function isInside(polygon: Polygon, [e, n]: Point): boolean {
  for (let at = 0; at < polygon.length; at++) {
    const [e0, n0] = corner(polygon, at);
    const [e1, n1] = corner(polygon, at + 1);
    if ((e1 - e0) * (n - n0) - (n1 - n0) * (e - e0) < 0) return false;
  }
  return true;
}

/** A rectangle. @param angle of its length, rad, anticlockwise from east */
export function rectangle([e, n]: Point, length: number, width: number, angle: number): Polygon {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const at = (along: number, across: number): Point => [
    e + c * along - s * across,
    n + s * along + c * across,
  ];
  const [l, w] = [length / 2, width / 2];
  return [at(-l, -w), at(l, -w), at(l, w), at(-l, w)];
}

/** The distance of a point from a line of several pieces, m. */
export function distanceTo(line: readonly Point[], [e, n]: Point): number {
  let nearest = Infinity;
  for (let at = 0; at + 1 < line.length; at++) {
    const [e0, n0] = line[at] ?? [0, 0];
    const [e1, n1] = line[at + 1] ?? [0, 0];
    const [de, dn] = [e1 - e0, n1 - n0];
    const share = ((e - e0) * de + (n - n0) * dn) / (de * de + dn * dn || 1);
    const on = Math.max(0, Math.min(1, share));
    nearest = Math.min(nearest, Math.hypot(e - e0 - on * de, n - n0 - on * dn));
  }
  return nearest;
}
