import { CMD, isInDegrees } from '../../../../../shared/mission/commands.ts';
import { distance, type Place } from '../../map/projection.ts';
import { type Items, isSomewhere, placeOf } from './list.ts';

const ABOVE_SEA: ReadonlySet<number> = new Set([0, 5]);
const NAV_RETURN = 20;
const LOITER_TIME = 19;
const DELAY = 93;
const HOLDS: ReadonlySet<number> = new Set([CMD.waypoint, 82, LOITER_TIME, DELAY]);

export interface Totals {
  /** m over ground, from home where it is known; back to it for a return. */
  readonly distance: number;
  /** s at the speed, with the waits; climbs, turns and jumps are not counted. */
  readonly seconds: number;
  /** m above home or the terrain; null: no item says so. */
  readonly highest: number | null;
  /** m above the sea. */
  readonly highestAboveSea: number | null;
  /** m from the item before, of each item; null where there is none. */
  readonly legs: readonly (number | null)[];
}

/** @param speed m/s, until the mission itself changes it */
export function totalsOf(items: Items, home: Place | null, speed: number): Totals {
  let now = speed;
  let here = home;
  let [metres, seconds] = [0, 0];
  const legs = items.map((item) => {
    const { command, param1, param2 } = item;
    if (command === CMD.changeSpeed && (param2 ?? 0) > 0) now = param2 ?? now;
    if (HOLDS.has(command) && (param1 ?? 0) > 0) seconds += param1 ?? 0;
    const goal = command === NAV_RETURN ? home : isSomewhere(item) && !isLook(command) ? placeOf(item) : null;
    if (goal === null) return null;
    const leg = here === null ? null : distance(here, goal);
    here = goal;
    metres += leg ?? 0;
    seconds += (leg ?? 0) / now;
    return leg;
  });
  const heights = (sea: boolean): number | null => {
    const all = items.filter(
      ({ frame, command }) => isInDegrees(frame, command) && !isLook(command) && ABOVE_SEA.has(frame) === sea,
    );
    return all.length === 0 ? null : Math.max(...all.map(({ z }) => z));
  };
  return {
    distance: metres,
    seconds,
    highest: heights(false),
    highestAboveSea: heights(true),
    legs,
  };
}

/** Places that are looked at or named, not flown to. */
export function isLook(command: number): boolean {
  return [80, 179, 188, 189, 195, 201].includes(command) || command >= 31_005;
}
