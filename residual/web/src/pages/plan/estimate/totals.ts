import { CMD, isInDegrees } from '../../../../../../shared/mission/commands.ts';
import { distance, type Place } from '../../../map/projection.ts';
import { type Items, isSomewhere, placeOf } from '../list.ts';
import type { VehicleFigures } from './vehicle-figures.ts';

const ABOVE_SEA: ReadonlySet<number> = new Set([0, 5]);
const NAV_RETURN = 20;
const LOITER_TIME = 19;
const DELAY = 93;
const HOLDS: ReadonlySet<number> = new Set([CMD.waypoint, 82, LOITER_TIME, DELAY]);
const TAKEOFFS: ReadonlySet<number> = new Set([CMD.takeoff, CMD.vtolTakeoff]);
/** They are flown to at the height of before. */
const LANDINGS: ReadonlySet<number> = new Set([CMD.land, CMD.vtolLand]);
/** Ground speed and airspeed of DO_CHANGE_SPEED; the others are of climbs. */
const LEVEL_SPEEDS: ReadonlySet<number> = new Set([0, 1]);

/** A place that is flown to, with the way there. */
export interface Leg {
  /** The item that says so. */
  readonly at: number;
  readonly from: Place | null;
  readonly to: Place;
  /** m; above home, or, where `isSea`, above the sea. */
  readonly height: number;
  readonly isSea: boolean;
  /** The height is above the terrain. */
  readonly isTerrain: boolean;
  /** m above home where it begins, of a first leg behind a take-off; else 0. */
  readonly risen: number;
  /** m over ground so far. */
  readonly done: number;
  /** s so far; null: no speed is known. */
  readonly seconds: number | null;
  /** m/s on the way there; null: not known. */
  readonly speed: number | null;
}

export interface Totals {
  /** m over ground, from home where it is known; back to it for a return. */
  readonly distance: number;
  /** s with climbs and waits; turns and jumps are not counted. Null: no speed is known. */
  readonly seconds: number | null;
  /** m above home or the terrain; null: no item says so. */
  readonly highest: number | null;
  /** m above the sea. */
  readonly highestAboveSea: number | null;
  /** m from the item before, of each item; null where there is none. */
  readonly distances: readonly (number | null)[];
  readonly legs: readonly Leg[];
}

/** @param figures the vehicle's speeds, until the mission itself changes them */
export function totalsOf(items: Items, home: Place | null, figures: VehicleFigures): Totals {
  let speed = figures.speed;
  let here = home;
  let height: number | null = 0;
  let metres = 0;
  let seconds: number | null = speed === null ? null : 0;
  const legs: Leg[] = [];
  const distances = items.map((item, at) => {
    const { command, frame, param1, param2, z } = item;
    if (command === CMD.changeSpeed && LEVEL_SPEEDS.has(param1 ?? 0) && (param2 ?? 0) > 0) {
      speed = param2 ?? speed;
      seconds ??= legs.length === 0 ? 0 : null;
    }
    if (seconds !== null && HOLDS.has(command) && (param1 ?? 0) > 0) seconds += param1 ?? 0;
    const isSea = ABOVE_SEA.has(frame);
    const isReturn = command === NAV_RETURN;
    const goal = isReturn ? home : isSomewhere(item) && !isLook(command) ? placeOf(item) : null;
    const rises = isReturn || goal !== null || TAKEOFFS.has(command);
    if (!rises) return null;
    const next = isReturn ? 0 : isSea ? null : z;
    const leg = here === null || goal === null ? null : distance(here, goal);
    metres += leg ?? 0;
    const takes = durationOf(leg ?? 0, height, next, speed, figures);
    seconds = seconds === null || takes === null ? null : seconds + takes;
    const risen = legs.length === 0 && leg !== null ? (height ?? 0) : 0;
    height = next;
    if (goal === null) return null;
    if (!isReturn) {
      const isTerrain = frame === 10 || frame === 11;
      const level = LANDINGS.has(command) ? legs.at(-1) : undefined;
      const { height: flown, ...above } = level ?? { height: z, isSea, isTerrain };
      const kept = { isSea: above.isSea, isTerrain: above.isTerrain };
      legs.push({ at, from: here, to: goal, height: flown, ...kept, risen, done: metres, seconds, speed });
    }
    here = goal;
    return leg;
  });
  const heights = (sea: boolean): number | null => {
    let most: number | null = null;
    for (const { frame, command, z } of items)
      if (isInDegrees(frame, command) && !isLook(command) && ABOVE_SEA.has(frame) === sea)
        most = Math.max(most ?? z, z);
    return most;
  };
  return {
    distance: metres,
    seconds,
    highest: heights(false),
    highestAboveSea: heights(true),
    distances,
    legs,
  };
}

/** Level flight and climb at once: the longer of both. */
function durationOf(
  metres: number,
  from: number | null,
  to: number | null,
  speed: number | null,
  { climb, descent }: VehicleFigures,
): number | null {
  if (speed === null) return null;
  const rise = from === null || to === null ? 0 : to - from;
  const vertical = rise > 0 ? climb : descent;
  return Math.max(metres / speed, vertical === null ? 0 : Math.abs(rise) / vertical);
}

/** Places that are looked at or named, not flown to. */
export function isLook(command: number): boolean {
  return [80, 179, 188, 189, 195, 201].includes(command) || command >= 31_005;
}
