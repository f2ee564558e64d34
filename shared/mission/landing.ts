import { type JsonObject, listOf } from '../member.ts';
import { CMD, FRAME_MISSION } from './commands.ts';

/**
 * The landing patterns of QGroundControl's plans, which do not say which items they stand for: those that the `appendMissionItems` of
 * its src/MissionManager/LandingComplexItem.cc (4.3) makes. What is reserved there is 0 here: ArduPilot refuses an item with NaN in it.
 */

const LAND_START = 189;
const LOITER_TO_ALTITUDE = 31;
const IMAGE_STOP_CAPTURE = 2001;
const VIDEO_STOP_CAPTURE = 2501;
const ABOVE_SEA = 0;
const ABOVE_HOME = 3;

/** `complexItemType`, and what it ends with. */
const LANDS: Readonly<Record<string, { readonly command: number; readonly yaw: number | null }>> = {
  fwLandingPattern: { command: CMD.land, yaw: 0 },
  vtolLandingPattern: { command: CMD.vtolLand, yaw: null },
};

/**
 * The simple items, as a plan has them, that a landing pattern stands for; null if it is none, or lacks what it needs. Of versions 1
 * (loiter and landing say each for themselves what their height is above) and 2.
 */
export function landingItems(pattern: JsonObject): readonly JsonObject[] | null {
  const land = LANDS[String(pattern['complexItemType'])];
  const approach = placeIn(pattern['landingApproachCoordinate'] ?? pattern['loiterCoordinate']);
  const ground = placeIn(pattern['landCoordinate']);
  const radius = pattern['loiterRadius'];
  const relative = isRelative(pattern);
  if (land === undefined || approach === null || ground === null || relative === null) return null;
  const loiters = pattern['useLoiterToAlt'] !== false;
  if (loiters && typeof radius !== 'number') return null;
  const frame = relative ? ABOVE_HOME : ABOVE_SEA;
  const turn = Number(radius) * (pattern['loiterClockwise'] === false ? -1 : 1);
  return [
    simple(LAND_START, FRAME_MISSION),
    ...(pattern['stopTakingPhotos'] === true
      ? [simple(CMD.triggerDistance, FRAME_MISSION), simple(IMAGE_STOP_CAPTURE, FRAME_MISSION)]
      : []),
    ...(pattern['stopVideoPhotos'] === true ? [simple(VIDEO_STOP_CAPTURE, FRAME_MISSION)] : []),
    // It leaves the circle towards the landing, on a tangent.
    loiters
      ? simple(LOITER_TO_ALTITUDE, frame, [1, turn, 0, 1, ...approach])
      : simple(CMD.waypoint, frame, [0, 0, 0, null, ...approach]),
    simple(land.command, frame, [0, 0, 0, land.yaw, ...ground]),
  ];
}

function simple(
  command: number,
  frame: number,
  params: readonly (number | null)[] = [0, 0, 0, 0, 0, 0, 0],
): JsonObject {
  return { type: 'SimpleItem', command, frame, params, autoContinue: true };
}

/** Whether heights are above home; null: it does not say. */
function isRelative(pattern: JsonObject): boolean | null {
  const { altitudesAreRelative: both, loiterAltitudeRelative: loiter, landAltitudeRelative: land } = pattern;
  if (typeof both === 'boolean') return both;
  if (typeof loiter !== 'boolean' || typeof land !== 'boolean') return null;
  return loiter || land; // QGroundControl takes both above home where they differ
}

/** Latitude, longitude, height. */
function placeIn(value: unknown): readonly [number, number, number] | null {
  const [lat, lon, height] = listOf(value);
  return typeof lat === 'number' && typeof lon === 'number' && typeof height === 'number'
    ? [lat, lon, height]
    : null;
}
