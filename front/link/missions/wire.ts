import type { WireItem } from '../../../shared/mavlink/decode-mission.ts';
import { CMD, FRAME_MISSION, isInDegrees, isPlace } from '../../../shared/mission/commands.ts';
import { ITEM_PARAMS, type MissionItem, type MissionPart } from '../../../shared/mission/item.ts';

const DEG_E7 = 1e7;

/** Where home goes in a list, degrees and m above mean sea level. */
export interface HomePlace {
  readonly lat: number | null;
  readonly lon: number | null;
  readonly alt_msl: number | null;
}

/** The list as the vehicle stores it. ArduPilot keeps its own home whatever item 0 says. @param first how many items of the vehicle's list come before those to fly */
export function toWire(items: readonly MissionItem[], first: 0 | 1, home: HomePlace): readonly WireItem[] {
  if (items.length === 0) return [];
  const wire = items.map((item) => itemToWire(item, first));
  if (first === 0) return wire;
  const { lat, lon, alt_msl: z } = home;
  const none = { param1: 0, param2: 0, param3: 0, param4: 0 };
  const place = { x: Math.round((lat ?? 0) * DEG_E7), y: Math.round((lon ?? 0) * DEG_E7), z: z ?? 0 };
  return [{ seq: 0, frame: 0, command: CMD.waypoint, ...none, ...place, autocontinue: 1 }, ...wire];
}

/** The items to fly of the vehicle's list. */
export function fromWire(wire: readonly WireItem[], first: 0 | 1): readonly MissionItem[] {
  return wire.slice(first).map((item) => itemFromWire(item, first));
}

function itemToWire(item: MissionItem, first: 0 | 1): WireItem {
  const scale = isInDegrees(item.frame, item.command) ? DEG_E7 : 1;
  const jump = item.command === CMD.jump ? first : 0;
  return {
    seq: item.seq + first,
    frame: frameOf(item),
    command: item.command,
    param1: Math.fround((item.param1 ?? Number.NaN) + jump),
    param2: Math.fround(item.param2 ?? Number.NaN),
    param3: Math.fround(item.param3 ?? Number.NaN),
    param4: Math.fround(item.param4 ?? Number.NaN),
    x: Math.round(item.x * scale),
    y: Math.round(item.y * scale),
    z: Math.fround(item.z),
    autocontinue: item.autocontinue,
  };
}

/** PX4 takes a command without a place in MAV_FRAME_MISSION only, and ArduPilot tells it back as frame 0. */
function frameOf({ frame, command }: WireItem | MissionItem): number {
  return isPlace(command) ? frame : FRAME_MISSION;
}

function itemFromWire(item: WireItem, first: 0 | 1): MissionItem {
  const scale = isInDegrees(item.frame, item.command) ? DEG_E7 : 1;
  const jump = item.command === CMD.jump ? first : 0;
  return {
    seq: item.seq - first,
    frame: frameOf(item),
    command: item.command,
    param1: param(item.param1 - jump),
    param2: param(item.param2),
    param3: param(item.param3),
    param4: param(item.param4),
    x: item.x / scale,
    y: item.y / scale,
    z: short(item.z),
    autocontinue: item.autocontinue,
  };
}

function param(value: number): number | null {
  return Number.isFinite(value) ? short(value) : null;
}

/** The shortest decimal number that is this float32: 0.1 instead of 0.10000000149011612. */
function short(value: number): number {
  if (!Number.isFinite(value)) return 0;
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}

/** Frames that differ in name only: the INT twins of MAV_FRAME. */
const TWINS: Readonly<Record<number, number>> = { 5: 0, 6: 3, 11: 10 };

/** Where ArduPilot keeps heights in cm, and rally points' in m. */
const HEIGHT_STEP_M: Readonly<Record<MissionPart, number>> = { mission: 0.011, fence: Infinity, rally: 1 };

/** What must be held as it was sent, because a zero there is another mission. */
const STRICT: ReadonlySet<number> = new Set([
  CMD.jump,
  CMD.changeSpeed,
  CMD.polygonInclusion,
  CMD.polygonExclusion,
  CMD.circleInclusion,
  CMD.circleExclusion,
]);

export interface Comparison {
  /** The first item that is another one, counted as the API does, and what differs. */
  readonly wrong: { readonly index: number; readonly what: string } | null;
  /** What the firmware does not keep, in words. */
  readonly notes: readonly string[];
}

const MAX_NOTES = 50;

/**
 * Compares what was sent with what the vehicle holds. Each firmware stores an item in its own form, and tells it back so: ArduPilot
 * gives heights in cm, whole numbers for most parameters, frame 0 and no place for commands that have none, and nothing for
 * parameters that it has no room for (a yaw at a waypoint); PX4 gives yaws from 0 to 360 and INT frames. Those are no
 * differences, but a parameter that is not kept is a note. Command, place, height and any other value must be the same.
 * @param first how many items of the vehicle's list come before those to fly; ArduPilot's home is not compared
 */
export function compare(
  part: MissionPart,
  sent: readonly WireItem[],
  held: readonly WireItem[],
  first: 0 | 1,
): Comparison {
  const notes: string[] = [];
  const count = Math.max(sent.length, held.length);
  for (let seq = first; seq < count; seq++) {
    const index = seq - first;
    const [ours, theirs] = [sent[seq], held[seq]];
    if (ours === undefined || theirs === undefined) {
      const what = `${sent.length - first} items were sent, and it holds ${Math.max(0, held.length - first)}`;
      return { wrong: { index, what }, notes };
    }
    const what =
      placeDifference(part, ours, theirs) ??
      paramDifference(ours, theirs, (name) => {
        if (notes.length < MAX_NOTES) notes.push(`Item ${index}: the vehicle does not keep ${name}.`);
      });
    if (what !== null) return { wrong: { index, what }, notes };
  }
  return { wrong: null, notes };
}

function placeDifference(part: MissionPart, ours: WireItem, theirs: WireItem): string | null {
  if (ours.command !== theirs.command) return `command ${theirs.command} instead of ${ours.command}`;
  if (!isInDegrees(ours.frame, ours.command)) return null;
  // Neither firmware keeps the frame of a fence's vertex.
  if (part !== 'fence' && (TWINS[ours.frame] ?? ours.frame) !== (TWINS[theirs.frame] ?? theirs.frame))
    return `frame ${theirs.frame} instead of ${ours.frame}`;
  if (Math.abs(ours.x - theirs.x) > 1 || Math.abs(ours.y - theirs.y) > 1) return 'another place';
  const step = Math.max(HEIGHT_STEP_M[part], Math.abs(ours.z) * 1e-6);
  return Math.abs(ours.z - theirs.z) >= step ? `height ${theirs.z} instead of ${ours.z}` : null;
}

function paramDifference(ours: WireItem, theirs: WireItem, dropped: (name: string) => void): string | null {
  const names = isInDegrees(ours.frame, ours.command)
    ? ITEM_PARAMS
    : ([...ITEM_PARAMS, 'x', 'y', 'z'] as const);
  for (const name of names) {
    const [a, b] = [ours[name], theirs[name]];
    if (isSame(a, b, name === 'param4')) continue;
    const nothing = b === 0 || Number.isNaN(b);
    if (!nothing || STRICT.has(ours.command)) return `${name} ${b} instead of ${a}`;
    if (!Number.isNaN(a)) dropped(`${name} (${a})`);
  }
  return null;
}

/** @param isAngle compared on the circle */
function isSame(a: number, b: number, isAngle: boolean): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) return true;
  const off = Math.abs(a - b);
  if (off <= Math.max(1e-4, Math.abs(a) * 1e-5) || Math.trunc(a) === b) return true;
  const turned = off % 360;
  return isAngle && Math.min(turned, 360 - turned) < 0.01;
}
