import type { Place } from '../flight/seen.ts';
import type { Frame } from '../mavlink/frame.ts';
import { MSG } from '../mavlink/messages.ts';
import type { Payload } from '../mavlink/payload.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import { ITEM_COMMANDS, isInDegrees } from './commands.ts';

/** MAV_CMD_NAV_WAYPOINT: what a set-point amounts to. */
const WAYPOINT = 16;
/** MAV_FRAME_GLOBAL_TERRAIN_ALT: a height that says nothing about home or the sea. */
const NO_HEIGHT = 10;
/** DO_ORBIT, DO_REPOSITION: go to a place, and are no items. */
const ORDERS: ReadonlySet<number> = new Set([34, 192]);
/** MAV_MISSION_TYPE of the fence, whose corners are no places to go to. */
const FENCE = 1;
const TYPE_AT = 37;
/** Bits of POSITION_TARGET_TYPEMASK that leave the place out. */
const NO_PLACE = 3;

/** Offsets in the messages that have a place (common.xml). */
const COMMAND_AT = { command: 28, frame: 32 } as const;
const ITEM_AT = { command: 30, frame: 34 } as const;

/** MAV_FRAME_LOCAL_NED: from where the vehicle's own map begins, which is home or near it. The other local frames begin at the vehicle. */
const LOCAL_NED = 1;
/** MAV_FRAME_GLOBAL_RELATIVE_ALT */
const ABOVE_HOME = 3;
const METRES_A_DEGREE = 111_195;

/** What a place in metres is counted from; null: not known. */
export interface Bases {
  readonly here: Place | null;
  readonly home: Place | null;
}

/**
 * Where a frame would send the vehicle, as an item of a mission is written; null where it goes nowhere.
 * @param reader is loaded with the frame
 */
export function goalOfFrame(what: Frame, reader: Payload, bases: Bases): MissionItem | null {
  switch (what.id) {
    case MSG.COMMAND_INT:
      return isOrder(reader.load(what)) ? placed(reader, COMMAND_AT, true) : null;
    case MSG.COMMAND_LONG: {
      const payload = reader.load(what);
      if (!isOrder(payload)) return null;
      // Firmwares do not agree on what its height is above.
      return item(payload.u16(COMMAND_AT.command), NO_HEIGHT, payload.f32(16), payload.f32(20), 0);
    }
    case MSG.MISSION_ITEM_INT:
    case MSG.MISSION_ITEM:
      if (reader.load(what).u8(TYPE_AT) === FENCE) return null;
      return placed(reader, ITEM_AT, what.id === MSG.MISSION_ITEM_INT);
    case MSG.SET_POSITION_TARGET_GLOBAL_INT: {
      const payload = reader.load(what);
      if ((payload.u16(48) & NO_PLACE) !== 0) return null;
      return item(WAYPOINT, payload.u8(52), payload.i32(4) / 1e7, payload.i32(8) / 1e7, payload.f32(12));
    }
    case MSG.SET_POSITION_TARGET_LOCAL_NED: {
      const payload = reader.load(what);
      if ((payload.u16(48) & NO_PLACE) !== 0) return null;
      return local(payload.u8(52) === LOCAL_NED, [payload.f32(4), payload.f32(8), payload.f32(12)], bases);
    }
    default:
      return null;
  }
}

/** How far it is counts, not in which direction: a place by the vehicle's nose is taken to be north of it. */
function local(
  isFromHome: boolean,
  [north, east, down]: readonly [number, number, number],
  { here, home }: Bases,
): MissionItem | null {
  // Where neither is known, any place is too far.
  const base = (isFromHome ? home : here) ?? here ?? home ?? { lat: 0, lon: 0 };
  const lat = base.lat + north / METRES_A_DEGREE;
  const lon = base.lon + east / (METRES_A_DEGREE * Math.max(0.01, Math.cos((base.lat * Math.PI) / 180)));
  return isFromHome ? item(WAYPOINT, ABOVE_HOME, lat, lon, -down) : item(WAYPOINT, NO_HEIGHT, lat, lon, 0);
}

/** Commands that we do not know have numbers there. */
function isOrder(payload: Payload): boolean {
  const command = payload.u16(COMMAND_AT.command);
  return ORDERS.has(command) || ITEM_COMMANDS.get(command)?.isPlace === true;
}

function placed(
  payload: Payload,
  at: { readonly command: number; readonly frame: number },
  isScaled: boolean,
): MissionItem | null {
  const [x, y] = isScaled
    ? [payload.i32(16) / 1e7, payload.i32(20) / 1e7]
    : [payload.f32(16), payload.f32(20)];
  return item(payload.u16(at.command), payload.u8(at.frame), x, y, payload.f32(24));
}

function item(command: number, frame: number, x: number, y: number, z: number): MissionItem | null {
  if (!isInDegrees(frame, command) || !Number.isFinite(x) || !Number.isFinite(y)) return null;
  return { seq: 0, frame, command, param1: 0, param2: 0, param3: 0, param4: 0, x, y, z, autocontinue: 1 };
}
