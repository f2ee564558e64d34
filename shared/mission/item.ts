/** The three lists of a vehicle: MAV_MISSION_TYPE 0, 1, 2. */
export const MISSION_PARTS = ['mission', 'fence', 'rally'] as const;
export type MissionPart = (typeof MISSION_PARTS)[number];

/**
 * One item, with MAVLink's own member names (MISSION_ITEM_INT). The mission's items are those to fly: ArduPilot's item 0, its
 * home, is not among them, on no firmware. `seq` counts from 0, and a DO_JUMP names its target by that `seq`.
 */
export interface MissionItem {
  readonly seq: number;
  /** MAV_FRAME */
  readonly frame: number;
  /** MAV_CMD */
  readonly command: number;
  /** Null: NaN on the wire, "the vehicle decides", as for a yaw. */
  readonly param1: number | null;
  readonly param2: number | null;
  readonly param3: number | null;
  readonly param4: number | null;
  /** Latitude, longitude in degrees; plain numbers where the command has no place. */
  readonly x: number;
  readonly y: number;
  /** m, in the frame. */
  readonly z: number;
  /** 1: goes on to the next item by itself. */
  readonly autocontinue: number;
}

export type ItemParam = 'param1' | 'param2' | 'param3' | 'param4';
export const ITEM_PARAMS: readonly ItemParam[] = ['param1', 'param2', 'param3', 'param4'];

/** More than any firmware stores. */
export const MAX_ITEMS = 5000;
