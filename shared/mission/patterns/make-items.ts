import type { MissionItem } from '../../schemas/mission-item.ts';
import { CMD, FRAME_MISSION } from '../commands.ts';
import type { LatLon } from './plane.ts';
import type { HeightAbove } from './settings.ts';

/** An item without its number in the list. */
export type Unnumbered = Omit<MissionItem, 'seq'>;

const FRAMES: Readonly<Record<HeightAbove, number>> = { home: 3, sea: 0, terrain: 10 };
const IMAGE_START_CAPTURE = 2000;

const PLAIN = { param1: 0, param2: 0, param3: 0, param4: 0, x: 0, y: 0, z: 0, autocontinue: 1 } as const;

/** @param hold s to stay there */
export function waypoint({ lat, lon }: LatLon, z: number, above: HeightAbove, hold = 0): Unnumbered {
  // The yaw is the vehicle's to choose.
  const own = { command: CMD.waypoint, frame: FRAMES[above], param1: hold, param4: null };
  return { ...PLAIN, ...own, x: lat, y: lon, z };
}

/** Photos each so many metres, one at once; 0: one, and no more. */
export function trigger(metres: number): Unnumbered {
  return { ...PLAIN, command: CMD.triggerDistance, frame: FRAME_MISSION, param1: metres, param3: 1 };
}

export function photo(): Unnumbered {
  return { ...PLAIN, command: IMAGE_START_CAPTURE, frame: FRAME_MISSION, param3: 1 };
}

/** The camera (or the nose) points there. @param z m above home */
export function lookAt({ lat, lon }: LatLon, z: number): Unnumbered {
  return { ...PLAIN, command: CMD.lookAt, frame: FRAMES.home, x: lat, y: lon, z };
}

export function lookAhead(): Unnumbered {
  return { ...PLAIN, command: CMD.lookAhead, frame: FRAME_MISSION };
}
