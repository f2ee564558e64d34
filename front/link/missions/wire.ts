import type { WireItem } from '../../../shared/mavlink/decode-mission.ts';
import { CMD, FRAME_MISSION, isInDegrees, isPlace, YAWED } from '../../../shared/mission/commands.ts';
import { numberedFrom } from '../../../shared/mission/numbered.ts';
import type { FirstItem, MissionItem } from '../../../shared/schemas/mission-item.ts';

const DEG_E7 = 1e7;

/** Where home goes in a list, degrees and m above mean sea level. */
interface HomePlace {
  readonly lat: number | null;
  readonly lon: number | null;
  readonly alt_msl: number | null;
}

/**
 * The list as the vehicle stores it, with its numbers. ArduPilot keeps its own home whatever item 0 says.
 * @param first the vehicle's number of the first item to fly
 */
export function toWire(
  items: readonly MissionItem[],
  first: FirstItem,
  home: HomePlace,
): readonly WireItem[] {
  if (items.length === 0) return [];
  const wire = numberedFrom(items, first).map((item) => itemToWire(item, first));
  if (first === 0) return wire;
  const { lat, lon, alt_msl: z } = home;
  const none = { param1: 0, param2: 0, param3: 0, param4: 0 };
  const place = { x: Math.round((lat ?? 0) * DEG_E7), y: Math.round((lon ?? 0) * DEG_E7), z: z ?? 0 };
  return [{ seq: 0, frame: 0, command: CMD.waypoint, ...none, ...place, autocontinue: 1 }, ...wire];
}

/** The items to fly of the vehicle's list. */
export function fromWire(wire: readonly WireItem[], first: FirstItem): readonly MissionItem[] {
  return wire.slice(first).map(itemFromWire);
}

function itemToWire(item: MissionItem, first: FirstItem): WireItem {
  const scale = isInDegrees(item.frame, item.command) ? DEG_E7 : 1;
  return {
    seq: item.seq,
    frame: frameOf(item),
    command: item.command,
    param1: Math.fround(item.param1 ?? Number.NaN),
    param2: Math.fround(item.param2 ?? Number.NaN),
    param3: Math.fround(item.param3 ?? Number.NaN),
    param4: Math.fround(item.param4 ?? Number.NaN),
    x: Math.round(item.x * scale),
    y: Math.round(item.y * scale),
    z: first === 1 && scale === DEG_E7 ? forCentimetres(item.z) : Math.fround(item.z),
    autocontinue: item.autocontinue,
  };
}

/** ArduPilot's LOCATION_ALT_MAX_M. */
const MOST_CM = 8_300_000;

/** ArduPilot cuts a height to whole cm: the float32 of 0.53 m would be 52 of them, the next one is 53. */
function forCentimetres(z: number): number {
  const nearest = Math.fround(z);
  const cm = Math.round(z * 100);
  const isWhole = Math.abs(cm) < MOST_CM && Math.abs(z * 100 - cm) <= Math.abs(cm) * 1e-6;
  if (!isWhole || Math.trunc(Math.fround(nearest * 100)) === cm) return nearest;
  return Math.fround(nearest * (1 + 2 ** -23));
}

/** PX4 takes a command without a place in MAV_FRAME_MISSION only, and ArduPilot tells it back as frame 0. */
function frameOf({ frame, command }: WireItem | MissionItem): number {
  return isPlace(command) ? frame : FRAME_MISSION;
}

function itemFromWire(item: WireItem): MissionItem {
  const scale = isInDegrees(item.frame, item.command) ? DEG_E7 : 1;
  return {
    seq: item.seq,
    frame: frameOf(item),
    command: item.command,
    param1: param(item.param1),
    param2: param(item.param2),
    param3: param(item.param3),
    param4: YAWED.has(item.command) ? yaw(item.param4) : param(item.param4),
    x: item.x / scale,
    y: item.y / scale,
    z: Number.isFinite(item.z) ? hundredths(item.z) : 0,
    autocontinue: item.autocontinue,
  };
}

function param(value: number): number | null {
  return Number.isFinite(value) ? hundredths(value) : null;
}

/** PX4 keeps radians. */
function yaw(value: number): number | null {
  return Number.isFinite(value) ? near(value, 1000, 2 ** -21) : null;
}

/** ArduPilot keeps heights and some lengths in whole cm, and tells 2811 of them as the float32 below 28.11. */
function hundredths(value: number): number {
  return near(value, 100, 2 ** -23);
}

/** A whole number of parts of one that is this float32 but for the rounding of its sender; else `short`. */
function near(value: number, parts: number, tolerance: number): number {
  const whole = Math.round(value * parts) / parts;
  return Math.abs(whole - value) <= Math.abs(value) * tolerance ? whole : short(value);
}

/** The shortest decimal number that is this float32: 0.1 instead of 0.10000000149011612. */
function short(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}
