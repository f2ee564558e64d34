import { type Random, seededRandom } from '../random.ts';
import { farm, village } from './buildings.ts';
import { subdivide } from './fields.ts';
import { Obstacles } from './obstacles.ts';
import { EXTENT_M, type Field, type House, PAD, type Pond, type Tree, type Way } from './parts.ts';
import { isInside, type Point, type Polygon } from './polygon.ts';
import { plant } from './trees.ts';

/**
 * A made-up landscape around a landing pad, from which the demo's camera picture and its map are drawn: the same seed makes the same
 * one on every machine. Metres east and north of the pad; angles in rad, anticlockwise from east.
 */
export interface Landscape {
  readonly fields: readonly Field[];
  readonly woods: readonly Polygon[];
  readonly roads: readonly Way[];
  /** From one side to the other. */
  readonly stream: Way;
  readonly pond: Pond;
  readonly houses: readonly House[];
  readonly trees: readonly Tree[];
  /** Lawn around the farm, mown. */
  readonly lawn: Polygon;
  /** Gravel: the yard of the farm and what leads to it. */
  readonly yard: Polygon;
}

/** That of the demo. */
export const DEMO_SEED = 22;
/** Nothing stands so near to the pad. */
const CLEAR_M = 38;

export function makeLandscape(seed: number): Landscape {
  const random = seededRandom(seed);
  const { fields: all, roads, hedges } = subdivide(random);
  const stream = makeStream(random);
  const place = farm(random);
  const houses = [...place.houses, ...village(random, roads)];
  const kept = all.filter(({ shape }) => shape.length > 2);
  const woods = kept.filter(({ shape }) => isWood(random, shape)).map(({ shape }) => shape);
  const fields = kept.filter(({ shape }) => !woods.includes(shape));
  const ways = [...roads, ...place.ways];
  const obstacles = new Obstacles([
    ...[...ways, stream].map(({ line, width }) => ({ line, metres: width / 2 })),
    ...houses.map(({ at, length }) => ({ line: [at, at], metres: length * 0.62 })),
    { line: [place.pond.at, place.pond.at], metres: place.pond.length / 2 },
    { line: [PAD.at, PAD.at], metres: CLEAR_M },
  ]);
  const isFree = (point: Point, metres: number): boolean =>
    obstacles.isFree(point, metres) && !isInside(place.yard, point);
  const trees = plant(random, { woods, hedges, roads, stream, place, isFree });
  return {
    fields,
    woods,
    roads: ways,
    stream,
    houses,
    trees,
    pond: place.pond,
    lawn: place.lawn,
    yard: place.yard,
  };
}

/** One in nine, not near the pad. */
function isWood(random: Random, shape: Polygon): boolean {
  const chosen = random() < 0.11;
  return chosen && shape.every(([e, n]) => Math.hypot(e, n) > 300);
}

/** It winds through the land from the west to the north-east, north of the farm. */
function makeStream(random: Random): Way {
  const line: Point[] = [];
  const phase = random() * 6;
  for (let e = -EXTENT_M; e <= EXTENT_M; e += 40) {
    const bends = 90 * Math.sin(e / 260 + phase) + 34 * Math.sin(e / 83 + 2 * phase);
    line.push([e, 430 + e * 0.22 + bends]);
  }
  return { kind: 'stream', width: 9, line };
}
