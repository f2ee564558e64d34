import type { Random } from '../random.ts';
import type { Farm } from './buildings.ts';
import type { Tree, Way } from './parts.ts';
import { between, isInside, type Point, type Polygon } from './polygon.ts';

interface Planting {
  readonly woods: readonly Polygon[];
  readonly hedges: readonly (readonly [Point, Point])[];
  readonly roads: readonly Way[];
  readonly stream: Way;
  readonly place: Farm;
  /** Whether something may stand there, so far from ways, water and houses. */
  readonly isFree: (point: Point, metres: number) => boolean;
}

/** From one tree of a wood to the next. */
const WOOD_M = 12;

/** Woods, hedges, rows along roads and the stream, an orchard, and a few that stand alone. */
export function plant(
  random: Random,
  { woods, hedges, roads, stream, place, isFree }: Planting,
): readonly Tree[] {
  const trees: Tree[] = [];
  const add = (kind: Tree['kind'], at: Point, height: number, radius: number): void => {
    if (isFree(at, radius * 0.6)) trees.push({ kind, at, height, radius, shade: random() });
  };
  const near = ([e, n]: Point, metres: number): Point => [
    e + (random() - 0.5) * 2 * metres,
    n + (random() - 0.5) * 2 * metres,
  ];
  const row = (one: Point, other: Point, everyM: number, each: (at: Point) => void): void => {
    const length = Math.hypot(other[0] - one[0], other[1] - one[1]);
    for (let along = everyM / 2; along < length; along += everyM * (0.7 + 0.6 * random()))
      each(between(one, other, along / length));
  };
  const broad = (at: Point, least: number, more: number): void => {
    const height = least + more * random();
    add('broad', at, height, height * (0.3 + 0.08 * random()));
  };
  for (const wood of woods) {
    const es = wood.map(([e]) => e);
    const ns = wood.map(([, n]) => n);
    for (let e = Math.min(...es); e < Math.max(...es); e += WOOD_M)
      for (let n = Math.min(...ns); n < Math.max(...ns); n += WOOD_M) {
        const at = near([e, n], WOOD_M * 0.4);
        if (!isInside(wood, at)) continue;
        if (random() < 0.35) add('conifer', at, 16 + 8 * random(), 4 + random());
        else add('broad', at, 11 + 6 * random(), 5 + 1.5 * random());
      }
  }
  for (const [one, other] of hedges)
    row(one, other, 8, (at) => {
      if (random() < 0.45) broad(near(at, 1), 6, 7);
      else add('bush', near(at, 1), 2.5 + random() * 1.5, 1.8 + random());
    });
  for (const { kind, line, width } of roads) {
    const [one, other] = line;
    if (kind !== 'road' || one === undefined || other === undefined) continue;
    const angle = Math.atan2(other[1] - one[1], other[0] - one[0]);
    for (const side of [-1, 1])
      row(one, other, 24, ([e, n]) => {
        const away = side * (width / 2 + 5);
        if (random() < 0.7) broad([e - Math.sin(angle) * away, n + Math.cos(angle) * away], 8, 5);
      });
  }
  for (let at = 0; at + 1 < stream.line.length; at++)
    row(stream.line[at] ?? [0, 0], stream.line[at + 1] ?? [0, 0], 12, (point) => {
      if (random() < 0.75) broad(near(point, 14), 7, 7);
    });
  const [origin = [0, 0], along = [0, 0], , across = [0, 0]] = place.orchard;
  for (let i = 0; i < 6; i++)
    for (let j = 0; j < 8; j++) {
      const [e, n] = between(origin, along, (i + 0.5) / 6);
      add(
        'broad',
        [e + ((across[0] - origin[0]) * (j + 0.5)) / 8, n + ((across[1] - origin[1]) * (j + 0.5)) / 8],
        4.4,
        1.9,
      );
    }
  for (const [e, n] of GARDEN) broad([e, n], 8, 4);
  for (const [e, n] of POPLARS) add('conifer', [e, n], 15 + random() * 3, 2);
  return trees;
}

/** Around the farm. */
const GARDEN: readonly Point[] = [
  [-38, 88],
  [-44, 104],
  [-30, 136],
  [6, 140],
  [-62, 92],
  [-78, 78],
  [-84, 60],
  [-66, 38],
  [40, 132],
  [58, 122],
];
const POPLARS: readonly Point[] = [
  [-31, 132],
  [-38, 131],
  [-45, 130],
  [-52, 129],
  [-59, 128],
];
