import { type Camera, footprint } from './camera.ts';
import type { LatLon } from './plane.ts';

/** What a person says of a pattern; `expand.ts` makes the items of it. Lengths and heights in m, angles in degrees. */

/** Of what heights are counted: home, the sea, or the terrain (which the vehicle must know). */
export type HeightAbove = 'home' | 'sea' | 'terrain';

/** How photos are taken and how far apart lines and photos are. */
export interface Photos {
  /** Null: no figures of a camera; the steps are given by hand. */
  readonly camera: Camera | null;
  /** m to what is photographed: the height of a survey or corridor, the distance of a structure. */
  readonly distance: number;
  /** The ground resolution was given, and the distance follows from it when the camera changes. */
  readonly byResolution: boolean;
  /** %, along the way and between lines. */
  readonly frontOverlap: number;
  readonly sideOverlap: number;
  /** m from photo to photo across the pictures' upright: between lines; around a structure, along the way. Follows from a camera. */
  readonly sideStep: number;
  /** m from photo to photo along it: along a line; of a structure, from layer to layer. 0: no photos. Follows from a camera. */
  readonly frontStep: number;
}

export interface Transects extends Photos {
  readonly above: HeightAbove;
  /** m beyond each end of a line. */
  readonly turnaround: number;
  /** Photos go on between lines. */
  readonly photosInTurns: boolean;
  /** Stops for each photo. */
  readonly hover: boolean;
  /** Which of the four corners comes first. */
  readonly entry: number;
}

export interface Survey extends Transects {
  readonly kind: 'survey';
  readonly polygon: readonly LatLon[];
  /** Heading of the lines. */
  readonly angle: number;
  /** Once more, across. */
  readonly crosshatch: boolean;
  /** Every second line, then the others: for wide turns. */
  readonly alternate: boolean;
}

export interface Corridor extends Transects {
  readonly kind: 'corridor';
  readonly line: readonly LatLon[];
  readonly width: number;
}

export interface Structure extends Photos {
  readonly kind: 'structure';
  readonly polygon: readonly LatLon[];
  /** m above home: of its top, and of the lowest that is photographed. */
  readonly top: number;
  readonly bottom: number;
  /** m above home: on the way in and out. */
  readonly entrance: number;
  readonly fromTop: boolean;
  /** Of the camera, degrees above the horizon. */
  readonly pitch: number;
}

export interface Orbit {
  readonly kind: 'orbit';
  readonly centre: LatLon;
  readonly radius: number;
  /** m above home: flown, and looked at. */
  readonly height: number;
  readonly lookHeight: number;
  readonly turns: number;
  readonly clockwise: boolean;
  /** Where on the circle it begins, degrees from north. */
  readonly start: number;
  /** m between photos; 0: none. */
  readonly trigger: number;
}

export type PatternSettings = Survey | Corridor | Structure | Orbit;
export type PatternKind = PatternSettings['kind'];

type Bounds = readonly [least: number, most: number];

/** What a number may be. */
export const BOUNDS = {
  distance: [1, 5000],
  frontOverlap: [0, 95],
  sideOverlap: [0, 95],
  sideStep: [0, 10_000],
  frontStep: [0, 10_000],
  trigger: [0, 5000],
  turnaround: [0, 500],
  entry: [0, 3],
  angle: [0, 360],
  width: [0, 5000],
  top: [0, 2000],
  bottom: [0, 2000],
  entrance: [1, 5000],
  pitch: [-80, 80],
  radius: [2, 5000],
  height: [1, 5000],
  lookHeight: [-500, 5000],
  turns: [0.25, 50],
  start: [0, 360],
  sensorWidth: [0.5, 100],
  sensorHeight: [0.5, 100],
  focal: [0.5, 2000],
  imageWidth: [16, 100_000],
  imageHeight: [16, 100_000],
  minInterval: [0, 60],
} as const satisfies Record<string, Bounds>;

/** With the steps that follow from its camera. */
export function settled<S extends PatternSettings>(settings: S): S {
  if (settings.kind === 'orbit' || settings.camera === null) return settings;
  const { side, front } = footprint(settings.camera, settings.distance);
  return {
    ...settings,
    sideStep: side * (1 - settings.sideOverlap / 100),
    frontStep: front * (1 - settings.frontOverlap / 100),
  };
}

/** Of a pattern's polygon or line; more are not drawn by hand, and are refused of a file. */
export const MAX_CORNERS = 400;

const BOUNDED: ReadonlyMap<string, Bounds> = new Map(Object.entries(BOUNDS));

/** The first number that is none or beyond its bounds; null: all are well. */
export function wrongFigure(settings: PatternSettings): string | null {
  const own = Object.entries(settings);
  const camera = 'camera' in settings && settings.camera !== null ? Object.entries(settings.camera) : [];
  for (const [name, value] of [...own, ...camera]) {
    if (typeof value !== 'number') continue;
    const [least, most] = BOUNDED.get(name) ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    if (!(value >= least && value <= most)) return name;
  }
  return null;
}

/** The corners, centre or line that the pattern stands on. */
export function cornersOf(settings: PatternSettings): readonly LatLon[] {
  switch (settings.kind) {
    case 'survey':
    case 'structure':
      return settings.polygon;
    case 'corridor':
      return settings.line;
    case 'orbit':
      return [settings.centre];
  }
}

/** The same on other corners; they are as many as the kind needs. */
export function withCorners<S extends PatternSettings>(settings: S, corners: readonly LatLon[]): S {
  switch (settings.kind) {
    case 'survey':
    case 'structure':
      return { ...settings, polygon: corners };
    case 'corridor':
      return { ...settings, line: corners };
    case 'orbit':
      return { ...settings, centre: corners[0] ?? settings.centre };
  }
}

export function leastCorners(kind: PatternKind): number {
  return { survey: 3, structure: 3, corridor: 2, orbit: 1 }[kind];
}
