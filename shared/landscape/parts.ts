import type { Point, Polygon } from './polygon.ts';

/** What the landscape is made of. Metres east and north of the pad; angles in rad, anticlockwise from east. */

/** Half of its side: beyond there is nothing but ground. */
export const EXTENT_M = 2400;
/** The landing pad. The vehicle stands on its edge and looks across it: so the first picture shows it. */
export const PAD = { at: [-0.4, 3.6], radius: 6 } as const;
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
