import { CMD, FRAME_MISSION, isInDegrees, isPlace } from '../../../../../shared/mission/commands.ts';
import type { MissionItem, MissionPart } from '../../../../../shared/schemas/mission-item.ts';
import type { Place } from '../../map/projection.ts';

/** What is done to a list of items. Each function gives a new list, numbered on from the first item of the old one. */

export type Item = MissionItem;
export type Part = MissionPart;
export type Items = readonly Item[];

const ABOVE_HOME = 3;
const NAV_RETURN = 20;
const NAV_LAND = 21;
const VTOL_LAND = 85;
const FIRST_HEIGHT_M = 20;

/** What ends a flight; a new waypoint stands before it. */
export function isEnd({ command }: Item): boolean {
  return command === NAV_RETURN || command === NAV_LAND || command === VTOL_LAND;
}

/** Whether the item stands somewhere: 0, 0 is "here", as ArduPilot reads it. */
export function isSomewhere({ frame, command, x, y }: Item): boolean {
  return isInDegrees(frame, command) && (x !== 0 || y !== 0);
}

export function placeOf({ x, y }: Item): Place {
  return { lat: x, lon: y };
}

/** An empty list begins with 0; `Sketch.lists` gives it the vehicle's numbers. */
function firstOf(items: Items): number {
  return items[0]?.seq ?? 0;
}

/** An item of its own kind, where the list says how high; a jump to the first item. */
export function newItem(items: Items, at: number, command: number, { lat, lon }: Place): Item {
  const before = items.slice(0, at).findLast(isSomewhere);
  const place = isPlace(command);
  return {
    seq: firstOf(items) + at,
    command,
    frame: place ? (before?.frame ?? ABOVE_HOME) : FRAME_MISSION,
    param1: command === CMD.jump ? firstOf(items) : 0,
    param2: 0,
    param3: 0,
    param4: 0,
    x: place ? round(lat) : 0,
    y: place ? round(lon) : 0,
    z: place ? (before?.z ?? FIRST_HEIGHT_M) : 0,
    autocontinue: 1,
  };
}

/** Degrees as they travel: 1e-7. */
export function round(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}

export function inserted(items: Items, at: number, ...added: Items): Items {
  return renumbered(items, items.toSpliced(at, 0, ...added));
}

export function removed(items: Items, at: number, count = 1): Items {
  return renumbered(items, items.toSpliced(at, count));
}

/** Others in place of `count` items; a jump to one that stays among them goes on to it. */
export function replaced(items: Items, at: number, count: number, others: Items): Items {
  return renumbered(items, items.toSpliced(at, count, ...others));
}

export function moved(items: Items, from: number, to: number): Items {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return items;
  return renumbered(items, items.toSpliced(from, 1).toSpliced(to, 0, item));
}

export function edited(items: Items, at: number, members: Partial<Item>): Items {
  return items.map((item, index) => (index === at ? { ...item, ...members } : item));
}

/** Another command: what the old one meant by its numbers is gone; the place stays where both have one. */
export function commanded(items: Items, at: number, command: number, place: Place): Items {
  const old = items[at];
  if (old === undefined) return items;
  const made = newItem(items, at, command, isSomewhere(old) ? placeOf(old) : place);
  const kept = isPlace(command) && isPlace(old.command) ? { frame: old.frame, z: old.z } : {};
  return items.with(at, { ...made, ...kept });
}

/** A jump goes on to the item that it named; -1, which the node refuses, where that one is gone. */
function renumbered(before: Items, after: Items): Items {
  const first = firstOf(before);
  const seqOf = new Map(after.map((item, index) => [item, first + index]));
  const known = new Set(before);
  return after.map((item, index) => {
    const seq = first + index;
    const jumps = item.command === CMD.jump && known.has(item);
    const target = jumps ? before[(item.param1 ?? -1) - first] : undefined;
    const param1 = target === undefined ? item.param1 : (seqOf.get(target) ?? -1);
    return item.seq === seq && item.param1 === param1 ? item : { ...item, seq, param1 };
  });
}
