import type { Random } from '../random.ts';
import { CROPS, EXTENT_M, type Field, type Way } from './parts.ts';
import { areaOf, between, centreOf, corner, inset, leftOf, type Point, type Polygon } from './polygon.ts';

interface Land {
  readonly fields: readonly Field[];
  readonly roads: readonly Way[];
  /** From end to end. */
  readonly hedges: readonly (readonly [Point, Point])[];
}

/** How land is divided: first by roads, then by lanes, then by hedges. */
const DIVIDED = { road: 1, lane: 4 } as const;
const SMALLEST_M2 = 22_000;
const LARGEST_M2 = 70_000;
const HEDGES = 0.4;

/** Divides the land again and again by straight lines, as it has been inherited: a patchwork of convex fields. */
export function subdivide(random: Random): Land {
  const fields: Field[] = [];
  const roads: Way[] = [];
  const hedges: [Point, Point][] = [];
  const divide = (shape: Polygon, depth: number, cut: readonly [Point, number] | null): void => {
    const area = areaOf(shape);
    if (area < SMALLEST_M2 + (LARGEST_M2 - SMALLEST_M2) * random() ** 2) {
      fields.push(asField(random, shape));
      return;
    }
    const [from, angle] = cut ?? anyCut(random, shape);
    const left = leftOf(shape, from, angle);
    const right = leftOf(shape, from, angle + Math.PI);
    const ends = left.filter((point) => Math.abs(offset(point, from, angle)) < 1e-6);
    const [one, other] = ends;
    if (one === undefined || other === undefined) {
      fields.push(asField(random, shape));
      return;
    }
    if (depth <= DIVIDED.road) roads.push({ kind: 'road', width: 6, line: [one, other] });
    else if (depth <= DIVIDED.lane) roads.push({ kind: 'lane', width: 3.4, line: [one, other] });
    else if (random() < HEDGES) hedges.push([one, other]);
    divide(left, depth + 1, null);
    divide(right, depth + 1, null);
  };
  const x = EXTENT_M;
  const all: Polygon = [
    [-x, -x],
    [x, -x],
    [x, x],
    [-x, x],
  ];
  // The road past the farm.
  divide(all, 0, [[0, 156], 0.075]);
  return { fields, roads, hedges };
}

/** Across its longest side, near the middle. */
function anyCut(random: Random, shape: Polygon): readonly [Point, number] {
  let longest = 0;
  let angle = 0;
  let through: Point = centreOf(shape);
  for (let at = 0; at < shape.length; at++) {
    const one = corner(shape, at);
    const next = corner(shape, at + 1);
    const length = Math.hypot(next[0] - one[0], next[1] - one[1]);
    if (length <= longest) continue;
    longest = length;
    angle = Math.atan2(next[1] - one[1], next[0] - one[0]) + Math.PI / 2;
    through = between(one, next, 0.5);
  }
  const share = 0.36 + 0.28 * random();
  const along = (share - 0.5) * longest;
  const at: Point = [through[0] + Math.sin(angle) * along, through[1] - Math.cos(angle) * along];
  return [at, angle + (random() - 0.5) * 0.22];
}

function offset([e, n]: Point, from: Point, angle: number): number {
  return Math.cos(angle) * (n - from[1]) - Math.sin(angle) * (e - from[0]);
}

function asField(random: Random, shape: Polygon): Field {
  const side = Math.floor(random() * shape.length);
  const [e0, n0] = corner(shape, side);
  const [e1, n1] = corner(shape, side + 1);
  const crop = CROPS[Math.floor(random() * CROPS.length)] ?? 'pasture';
  return { shape: inset(shape, 2.5 + random()), crop, angle: Math.atan2(n1 - n0, e1 - e0), shade: random() };
}
