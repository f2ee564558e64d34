import { PRESETS } from './camera.ts';
import type { Pattern } from './placed.ts';
import type { LatLon } from './plane.ts';
import { Plane } from './plane.ts';
import { bestHeading } from './polygon.ts';
import type { PatternKind, PatternSettings, Photos } from './settings.ts';

/** A new pattern begins with the camera and overlaps of the last one. */

const FIRST: Photos = {
  camera: PRESETS[0] === undefined ? null : withoutName(PRESETS[0]),
  distance: 40,
  byResolution: false,
  frontOverlap: 75,
  sideOverlap: 70,
  sideStep: 20,
  frontStep: 10,
};

/** @param radius m, of an orbit */
export function newPattern(
  before: readonly Pattern[],
  kind: PatternKind,
  corners: readonly LatLon[],
  radius: number,
): PatternSettings {
  const last = before.findLast(({ settings }) => settings.kind !== 'orbit')?.settings;
  const kept = last === undefined || last.kind === 'orbit' ? FIRST : last;
  const { camera, byResolution, frontOverlap, sideOverlap, sideStep, frontStep } = kept;
  const isAfterStructure = last?.kind === 'structure';
  const distance = kind === 'structure' ? 15 : isAfterStructure ? FIRST.distance : kept.distance;
  const photos = { camera, byResolution, frontOverlap, sideOverlap, sideStep, frontStep, distance };
  const lines = { above: 'home', turnaround: 5, photosInTurns: false, hover: false, entry: 0 } as const;
  switch (kind) {
    case 'survey': {
      const angle = Math.round(bestAngle(corners));
      return { kind, polygon: corners, ...photos, ...lines, angle, crosshatch: false, alternate: false };
    }
    case 'corridor':
      return { kind, line: corners, ...photos, ...lines, width: 40 };
    case 'structure': {
      const layers = { top: 20, bottom: 3, entrance: 30, fromTop: true, pitch: 0 };
      return { kind, polygon: corners, ...photos, frontStep: Math.max(1, frontStep), ...layers };
    }
    case 'orbit':
      return {
        kind,
        centre: corners[0] ?? { lat: 0, lon: 0 },
        radius: Math.max(10, Math.min(100, Math.round(radius))),
        height: 30,
        lookHeight: 0,
        turns: 1,
        clockwise: true,
        start: 0,
        trigger: 0,
      };
  }
}

/** degrees, along which the lines need the fewest turns */
export function bestAngle(corners: readonly LatLon[]): number {
  const [origin] = corners;
  if (origin === undefined) return 0;
  const plane = new Plane(origin);
  return bestHeading(corners.map((corner) => plane.toFlat(corner)));
}

/** A preset's figures. */
export function withoutName<C extends { readonly name: string }>(preset: C): Omit<C, 'name'> {
  const { name: _name, ...camera } = preset;
  return camera;
}
