import { type Random, seededRandom } from '../random.ts';
import { farm, village } from './buildings.ts';
import { subdivide } from './fields.ts';
import { Obstacles } from './obstacles.ts';
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

export const CROPS = ['wheat', 'rape', 'pasture', 'barley', 'ploughed', 'hay', 'maize', 'clover'] as const;

export interface Field {
  readonly shape: Polygon;
  readonly crop: (typeof CROPS)[number];
  /** Of its rows. */
  readonly angle: number;
  /** 0 to 1: no two are quite the same. */
  readonly shade: number;
}

export interface Way {
  readonly kind: 'road' | 'lane' | 'track' | 'stream';
  readonly width: number;
  readonly line: readonly Point[];
}

export interface Pond {
  readonly at: Point;
  readonly length: number;
  readonly width: number;
  readonly angle: number;
}

export interface House {
  readonly kind: 'house' | 'barn' | 'church' | 'tower';
  readonly at: Point;
  /** Of its ridge. */
  readonly angle: number;
  readonly length: number;
  readonly width: number;
  /** Heights above the ground. */
  readonly eaves: number;
  readonly ridge: number;
  /** 0 to 1, of the roof and of the walls. */
  readonly shade: number;
}

export interface Tree {
  readonly kind: 'broad' | 'conifer' | 'bush';
  readonly at: Point;
  readonly height: number;
  readonly radius: number;
  readonly shade: number;
}

/** That of the demo. */
export const DEMO_SEED = 22;
/** Half of its side: beyond there is nothing but ground. */
export const EXTENT_M = 2400;
/** The landing pad. The vehicle stands on its edge and looks across it: so the first picture shows it. */
export const PAD = { at: [-0.4, 3.6], radius: 6 } as const;
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
