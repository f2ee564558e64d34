/**
 * Typed decode of the messages of the mission protocol (https://mavlink.io/en/services/mission.html), with values as on the
 * wire, like `decode.ts`. A field that is an extension is 0 where the sender does not have it.
 */
import type { Frame } from './frame.ts';
import { MSG } from './messages.ts';
import type { Payload } from './payload.ts';

/** MAV_FRAME_GLOBAL…, in which x and y are latitude and longitude. */
const GLOBAL_FRAMES: ReadonlySet<number> = new Set([0, 3, 5, 6, 10, 11]);

/** MISSION_ITEM_INT. A parameter may be NaN. */
export interface WireItem {
  readonly seq: number;
  readonly frame: number;
  readonly command: number;
  readonly param1: number;
  readonly param2: number;
  readonly param3: number;
  readonly param4: number;
  /** degE7, or a plain number where the command has no place. */
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly autocontinue: number;
}

interface Addressed {
  readonly targetSystem: number;
  readonly targetComponent: number;
  /** MAV_MISSION_TYPE */
  readonly missionType: number;
}

export type MissionMessage =
  | (Addressed & { readonly kind: 'count'; readonly count: number; readonly opaqueId: number })
  /** MISSION_REQUEST or MISSION_REQUEST_INT. */
  | (Addressed & { readonly kind: 'request'; readonly seq: number })
  | (Addressed & { readonly kind: 'item'; readonly item: WireItem })
  /** `result`: MAV_MISSION_RESULT */
  | (Addressed & { readonly kind: 'ack'; readonly result: number; readonly opaqueId: number });

/** Null for any other message. */
export function decodeMission({ id }: Frame, payload: Payload): MissionMessage | null {
  switch (id) {
    case MSG.MISSION_COUNT:
      return { kind: 'count', ...addressed(payload, 2, 4), count: payload.u16(0), opaqueId: payload.u32(5) };
    case MSG.MISSION_REQUEST:
    case MSG.MISSION_REQUEST_INT:
      return { kind: 'request', ...addressed(payload, 2, 4), seq: payload.u16(0) };
    case MSG.MISSION_ITEM_INT:
      return { kind: 'item', ...addressed(payload, 32, 37), item: decodeItem(payload) };
    case MSG.MISSION_ITEM:
      return { kind: 'item', ...addressed(payload, 32, 37), item: decodeFloatItem(payload) };
    case MSG.MISSION_ACK:
      return { kind: 'ack', ...addressed(payload, 0, 3), result: payload.u8(2), opaqueId: payload.u32(4) };
    default:
      return null;
  }
}

function addressed(payload: Payload, targetAt: number, typeAt: number): Addressed {
  return {
    targetSystem: payload.u8(targetAt),
    targetComponent: payload.u8(targetAt + 1),
    missionType: payload.u8(typeAt),
  };
}

function decodeItem(payload: Payload): WireItem {
  return {
    seq: payload.u16(28),
    frame: payload.u8(34),
    command: payload.u16(30),
    param1: payload.f32(0),
    param2: payload.f32(4),
    param3: payload.f32(8),
    param4: payload.f32(12),
    x: payload.i32(16),
    y: payload.i32(20),
    z: payload.f32(24),
    autocontinue: payload.u8(36),
  };
}

/** MISSION_ITEM, as some answer MISSION_REQUEST_INT: its place is degrees in floats, some metres off. */
function decodeFloatItem(payload: Payload): WireItem {
  const item = decodeItem(payload);
  const factor = GLOBAL_FRAMES.has(item.frame) ? 1e7 : 1;
  return { ...item, x: Math.round(payload.f32(16) * factor), y: Math.round(payload.f32(20) * factor) };
}

/** The ids of the three lists in MISSION_CURRENT, 0: the vehicle tells none. */
export interface MissionIds {
  readonly mission: number;
  readonly fence: number;
  readonly rally: number;
  /** Items of the mission; 0 unknown, 65535 none. */
  readonly total: number;
}

export function decodeMissionIds(payload: Payload): MissionIds {
  return { total: payload.u16(2), mission: payload.u32(6), fence: payload.u32(10), rally: payload.u32(14) };
}
