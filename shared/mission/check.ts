import { ApiError } from '../errors.ts';
import { isRecord, type JsonObject } from '../member.ts';
import {
  type FirstItem,
  ITEM_PARAMS,
  MAX_ITEMS,
  type MissionItem,
  type MissionPart,
} from '../schemas/mission-item.ts';
import { CMD, FRAME_MISSION, ITEM_COMMANDS, isFence, isInDegrees, isPlace, YAWED } from './commands.ts';
import { numberedFrom } from './numbered.ts';
import { bounded, type MissionWarning } from './warning.ts';

/** MAV_FRAMEs of both firmwares: mean sea level, above home, above the terrain, and their INT twins; 2 has no place. */
const FRAMES: ReadonlySet<number> = new Set([0, 2, 3, 5, 6, 10, 11]);
const RELATIVE_FRAMES: ReadonlySet<number> = new Set([3, 6, 10, 11]);
/** MAV_CMDs of fences, and of rally points, also those to come: 5000 to 5099, 5100 to 5199 (common.xml). */
const [FENCES, RALLY_POINTS, BEYOND] = [5000, 5100, 5200];
/** MAVLink has 16 bits for a command. */
const MAX_COMMAND = 0xffff;

/** What is wrong with an item, while its number is not known. `inNumbers` makes the ApiError of it. */
class ItemFault extends Error {
  readonly index: number;

  constructor(index: number, sentence: string) {
    super(sentence);
    this.index = index;
  }
}

/** An item that nobody should fly. @param index its place in the list, from 0 */
export function itemError(index: number, sentence: string): Error {
  return new ItemFault(index, sentence);
}

/**
 * What `read` gives.
 * @param first the number of the first item that it reads; null: not known
 * @throws ApiError E_MISSION_ITEM with the `index` of an item that `read` calls wrong, and its number in words
 */
export function inNumbers<T>(first: number | null, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ItemFault)) throw error;
    const { index, message } = error;
    const name = first === null ? `The item at index ${index}` : `Item ${first + index}`;
    throw new ApiError('E_MISSION_ITEM', `${name}: ${message}.`, { index });
  }
}

type Members = JsonObject;

const KNOWN: ReadonlySet<string> = new Set([
  ...ITEM_PARAMS,
  'seq',
  'frame',
  'command',
  'x',
  'y',
  'z',
  'autocontinue',
]);

/**
 * Checks items as they come in JSON: the members of MissionItem; parameters default to 0, `autocontinue` to 1. The `seq` of a
 * mission go up by one from 0 or 1, which the first one says; without it they are the vehicle's.
 * @param first the vehicle's number of a mission's first item; null: not known
 * @returns the items with the vehicle's numbers, or as they came where those are not known
 * @throws ApiError E_MISSION_ITEM with the index of the first that is wrong
 */
export function checkItems(
  part: MissionPart,
  items: readonly unknown[],
  first: FirstItem | null,
): readonly MissionItem[] {
  const vehicles = part === 'mission' ? first : 0;
  const listed = part === 'mission' ? listedFirst(items) : 0;
  const checked = inNumbers(vehicles ?? listed, () => checkAll(part, items, listed ?? vehicles ?? 0));
  return numberedFrom(checked, vehicles ?? listed ?? 0);
}

/** The number that a mission gives to its first item; null: none that a vehicle has. */
function listedFirst([item]: readonly unknown[]): FirstItem | null {
  const seq = typeof item === 'object' && item !== null && 'seq' in item ? item.seq : null;
  return seq === 0 || seq === 1 ? seq : null;
}

/** @param first the number of the list's first item */
function checkAll(part: MissionPart, items: readonly unknown[], first: number): readonly MissionItem[] {
  if (items.length > MAX_ITEMS)
    throw itemError(MAX_ITEMS, `there are ${items.length} items; more than ${MAX_ITEMS} are not taken`);
  const checked = items.map((item, index) => checkItem(part, item, index, first));
  if (part === 'fence') checkPolygons(checked);
  const last = first + checked.length - 1;
  for (const [index, { command, param1 }] of checked.entries()) {
    const isTarget = Number.isInteger(param1) && (param1 ?? -1) >= first && (param1 ?? 0) <= last;
    if (command === CMD.jump && !isTarget)
      throw itemError(index, `DO_JUMP to ${param1}, and the items of the list are ${first} to ${last}`);
  }
  return checked;
}

function checkItem(part: MissionPart, members: unknown, index: number, first: number): MissionItem {
  if (!isRecord(members)) throw itemError(index, 'is not an object');
  const unknown = Object.keys(members).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw itemError(index, `${unknown} is not known here`);
  const frame = numberOf(members, 'frame', index);
  if (!FRAMES.has(frame) || (part !== 'mission' && frame === FRAME_MISSION))
    throw itemError(
      index,
      `frame ${frame} is none that can be flown; use 3 (above home) or 0 (mean sea level)`,
    );
  const command = numberOf(members, 'command', index);
  if (!fits(part, command))
    throw itemError(index, `command ${command} is none of a ${part === 'rally' ? 'rally point' : part}`);
  const number = first + index;
  const { seq = number } = members;
  if (seq !== number) {
    const begins = part === 'mission' ? '0 or 1' : '0';
    const wanted = index === 0 ? `the first one is ${begins}` : `${number} is next in the list`;
    throw itemError(index, `seq is ${shown(seq)}, and ${wanted}`);
  }
  const autocontinue = numberOf(members, 'autocontinue', index, 1);
  if (autocontinue !== 0 && autocontinue !== 1) throw itemError(index, 'autocontinue must be 0 or 1');
  const item = {
    seq: number,
    frame,
    command,
    param1: paramOf(members, 'param1', index),
    param2: paramOf(members, 'param2', index),
    param3: paramOf(members, 'param3', index),
    param4: paramOf(members, 'param4', index),
    x: numberOf(members, 'x', index, isPlace(command) ? undefined : 0),
    y: numberOf(members, 'y', index, isPlace(command) ? undefined : 0),
    z: numberOf(members, 'z', index, isPlace(command) && part === 'mission' ? undefined : 0),
    autocontinue,
  };
  checkPlace(item, index);
  if (part === 'rally' && item.x === 0 && item.y === 0)
    throw itemError(index, 'latitude 0 and longitude 0 stand for no rally point');
  if ((command === CMD.circleInclusion || command === CMD.circleExclusion) && !((item.param1 ?? 0) > 0))
    throw itemError(index, 'param1 is the radius of the circle, m, and must be above 0');
  return item;
}

/** Whether a list may have the command: what is not known here, the vehicle decides about. */
export function fits(part: MissionPart, command: number): boolean {
  if (part === 'fence')
    return isFence(command) || (!isKnown(command) && isBetween(command, FENCES, RALLY_POINTS));
  if (part === 'rally') return command === CMD.rallyPoint;
  return isBetween(command, 1, MAX_COMMAND + 1) && !isBetween(command, FENCES, BEYOND);
}

function isBetween(command: number, from: number, below: number): boolean {
  return Number.isInteger(command) && command >= from && command < below;
}

function isKnown(command: number): boolean {
  return ITEM_COMMANDS.has(command);
}

const FLOAT_MAX = 3.4028234663852886e38;

function numberOf(members: Members, name: string, index: number, absent?: number): number {
  const value = members[name] ?? (members[name] === undefined ? absent : null);
  if (value === undefined) throw itemError(index, `${name} is missing`);
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > FLOAT_MAX)
    throw itemError(index, `${name} must be a number, and is ${shown(value)}`);
  return value;
}

/** Null is NaN on the wire. */
function paramOf(members: Members, name: string, index: number): number | null {
  return members[name] === null ? null : numberOf(members, name, index, 0);
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value)?.slice(0, 40) ?? 'nothing');
}

const INT_MAX = 2 ** 31 - 1;

function checkPlace({ frame, command, x, y }: MissionItem, index: number): void {
  if (!isInDegrees(frame, command)) {
    if (Math.abs(x) > INT_MAX || Math.abs(y) > INT_MAX)
      throw itemError(index, 'x and y of a command without a place are whole numbers of 32 bits');
    return;
  }
  if (!isKnown(command)) {
    // Perhaps no place: what 32 bits hold of 1e-7.
    if (Math.max(Math.abs(x), Math.abs(y)) * 1e7 > INT_MAX)
      throw itemError(index, 'x and y of a command that is not known here are at most 214.7');
    return;
  }
  if (Math.abs(x) > 90) throw itemError(index, `x is the latitude in degrees, -90 to 90, and is ${x}`);
  if (Math.abs(y) > 180) throw itemError(index, `y is the longitude in degrees, -180 to 180, and is ${y}`);
}

/** The vertices of a polygon follow each other, each with their number in param1. */
function checkPolygons(items: readonly MissionItem[]): void {
  for (let at = 0; at < items.length; ) {
    const { command, param1 } = items[at] ?? { command: 0, param1: 0 };
    if (command !== CMD.polygonInclusion && command !== CMD.polygonExclusion) {
      at++;
      continue;
    }
    const count = param1 ?? 0;
    if (!Number.isInteger(count) || count < 3)
      throw itemError(at, 'param1 is the number of the vertices of its polygon, 3 or more');
    for (let next = at; next < at + count; next++) {
      const vertex = items[next];
      if (vertex?.command !== command || vertex.param1 !== count)
        throw itemError(
          Math.min(next, items.length - 1),
          `the polygon of ${count} vertices from item ${at} is not complete`,
        );
    }
    at += count;
  }
}

const FAR_M = 50_000;
const HIGH_M = 500;
const EARTH_M = 6_371_000;
/** What may be meant, but is worth a look: legs over 50 km, heights over 500 m above home or the terrain, commands that nobody knows. */
export function warningsOf(items: readonly MissionItem[]): readonly MissionWarning[] {
  const warnings: string[] = [];
  let before: MissionItem | null = null;
  for (const item of items) {
    const { seq, frame, command, x, y, z } = item;
    if (!isKnown(command))
      warnings.push(
        `Item ${seq}: MAV_CMD ${command} is not known here; the vehicle decides whether it takes it.`,
      );
    if (!isInDegrees(frame, command)) continue;
    if (RELATIVE_FRAMES.has(frame) && z > HIGH_M) warnings.push(`Item ${seq} is ${Math.round(z)} m high.`);
    if (x === 0 && y === 0) continue; // "here", as ArduPilot reads it
    if (before !== null) {
      const far = distance(before, item);
      if (far > FAR_M)
        warnings.push(`Item ${seq} is ${Math.round(far / 1000)} km away from item ${before.seq}.`);
    }
    before = item;
  }
  return bounded(warnings);
}

/** The parameters in which ArduPilot takes NaN, by MAV_CMD; in no other (AP_Mission::sanity_check_params). */
const MAY_BE_NAN: ReadonlyMap<number, readonly string[]> = new Map<number, readonly string[]>([
  ...[...YAWED].map((command) => [command, ['param4']] as const),
  [CMD.vtolLand, ['param3', 'param4']],
]);

/** What ArduPilot refuses of a mission that was made for another firmware: parameters that are not set. */
export function refusedByArduPilot(items: readonly MissionItem[]): readonly string[] {
  return items.flatMap((item) => {
    const may = MAY_BE_NAN.get(item.command) ?? [];
    const unset = ITEM_PARAMS.filter((name) => item[name] === null && !may.includes(name));
    if (unset.length === 0) return [];
    return [`Item ${item.seq}: ${unset.join(', ')} not set (NaN), which ArduPilot refuses. Set 0.`];
  });
}

/** m between two items, over a sphere. */
export function distance(a: MissionItem, b: MissionItem): number {
  const rad = Math.PI / 180;
  const north = Math.sin(((b.x - a.x) * rad) / 2) ** 2;
  const east = Math.sin(((b.y - a.y) * rad) / 2) ** 2;
  const h = north + Math.cos(a.x * rad) * Math.cos(b.x * rad) * east;
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(h)));
}
