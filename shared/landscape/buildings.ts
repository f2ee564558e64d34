import type { Random } from '../random.ts';
import type { House, Pond, Way } from './parts.ts';
import { between, type Point, type Polygon, rectangle } from './polygon.ts';

/** The farm in front of the pad. */
export interface Farm {
  readonly houses: readonly House[];
  readonly ways: readonly Way[];
  readonly pond: Pond;
  readonly lawn: Polygon;
  readonly yard: Polygon;
  /** Two corners of the orchard. */
  readonly orchard: Polygon;
}

/** As the simulated vehicle stands: it looks 7 degrees west of north. */
const TURN = 0.12;

/** The house lies straight ahead of the vehicle, so that whoever takes off sees it. */
export function farm(random: Random): Farm {
  const at = (right: number, ahead: number): Point => [
    right * Math.cos(TURN) - ahead * Math.sin(TURN),
    right * Math.sin(TURN) + ahead * Math.cos(TURN),
  ];
  const building = (
    kind: House['kind'],
    where: Point,
    angle: number,
    size: readonly [length: number, width: number, eaves: number, ridge: number],
  ): House => {
    const [length, width, eaves, ridge] = size;
    return { kind, at: where, angle: TURN + angle, length, width, eaves, ridge, shade: random() };
  };
  const houses = [
    { ...building('house', at(-3, 98), 0, [17, 10, 5.6, 10.2]), shade: 0.02 },
    building('barn', at(28, 112), Math.PI / 2, [27, 13, 5, 10.5]),
    building('barn', at(-33, 118), 0, [14, 8, 3.4, 6.2]),
    building('house', at(-14, 122), Math.PI / 2, [7, 5, 2.6, 4.4]),
  ];
  const road: Point = [-14, 155];
  const ways: Way[] = [
    {
      kind: 'track',
      width: 3.2,
      line: [at(0, 4), at(2, 30), at(8, 62), at(10, 84), at(9, 104), at(8, 122), road],
    },
  ];
  return {
    houses,
    ways,
    pond: { at: at(-48, 66), length: 44, width: 26, angle: 0.5 },
    lawn: rectangle(at(-4, 52), 150, 176, TURN),
    yard: rectangle(at(9, 110), 22, 28, TURN),
    orchard: rectangle(at(46, 58), 40, 56, TURN),
  };
}

const VILLAGE = { from: 420, to: 900, everyM: 27 } as const;

/** Houses on both sides of the road past the farm, east of it, with a church in their middle; and a farm here and there. */
export function village(random: Random, roads: readonly Way[]): readonly House[] {
  const houses: House[] = [];
  const [main] = roads;
  const [west, east] = main?.line ?? [];
  if (west === undefined || east === undefined) return houses;
  const angle = Math.atan2(east[1] - west[1], east[0] - west[0]);
  const beside = (along: number, across: number): Point => {
    const [e, n] = between(west, east, (along - west[0]) / (east[0] - west[0]));
    return [e - Math.sin(angle) * across, n + Math.cos(angle) * across];
  };
  const church = (VILLAGE.from + VILLAGE.to) / 2;
  houses.push(
    { kind: 'church', at: beside(church, 42), angle, length: 24, width: 11, eaves: 8, ridge: 14, shade: 0.6 },
    {
      kind: 'tower',
      at: beside(church - 15, 42),
      angle,
      length: 6.5,
      width: 6.5,
      eaves: 20,
      ridge: 33,
      shade: 0.6,
    },
  );
  for (let along: number = VILLAGE.from; along < VILLAGE.to; along += VILLAGE.everyM)
    for (const side of [-1, 1]) {
      const where = beside(along + random() * 9, side * (17 + random() * 9));
      if (random() < 0.16 || houses.some(({ at }) => Math.hypot(at[0] - where[0], at[1] - where[1]) < 24))
        continue;
      houses.push(dwelling(random, where, angle + (random() < 0.3 ? Math.PI / 2 : 0)));
    }
  for (const { kind, line } of roads.slice(1)) {
    const [one, other] = line;
    if (kind === 'track' || one === undefined || other === undefined || random() < 0.35) continue;
    const [e, n] = between(one, other, 0.2 + 0.6 * random());
    const along = Math.atan2(other[1] - one[1], other[0] - one[0]);
    const where: Point = [e - Math.sin(along) * 26, n + Math.cos(along) * 26];
    if (Math.hypot(...where) < 320) continue;
    const [we, wn] = where;
    houses.push(dwelling(random, where, along), {
      kind: 'barn',
      at: [we - Math.sin(along) * 26, wn + Math.cos(along) * 26],
      angle: along + Math.PI / 2,
      length: 20 + random() * 10,
      width: 11,
      eaves: 4.6,
      ridge: 8.6,
      shade: random(),
    });
  }
  return houses;
}

function dwelling(random: Random, at: Point, angle: number): House {
  const length = 10 + random() * 6;
  const width = 8 + random() * 2;
  const eaves = 3 + random() * 3;
  return {
    kind: 'house',
    at,
    angle: angle + (random() - 0.5) * 0.1,
    length,
    width,
    eaves,
    ridge: eaves + width * 0.45,
    shade: random(),
  };
}
