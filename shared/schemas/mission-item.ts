/** The three lists of a vehicle: MAV_MISSION_TYPE 0, 1, 2. */
export const MISSION_PARTS = ['mission', 'fence', 'rally'] as const;
export type MissionPart = (typeof MISSION_PARTS)[number];

/** MAV_AUTOPILOT_ARDUPILOTMEGA */
/** MAV_AUTOPILOT_ARDUPILOTMEGA */
export const ARDUPILOT = 3;

export type FirstItem = 0 | 1;

/**
 * The vehicle's number of the mission's first item to fly: ArduPilot has its home as item 0. Null: not known.
 * @param autopilot MAV_AUTOPILOT
 */
export function firstItemOf(autopilot: unknown): FirstItem | null {
  if (typeof autopilot !== 'number') return null;
  return autopilot === ARDUPILOT ? 1 : 0;
}

/**
 * One item, with MAVLink's own member names (MISSION_ITEM_INT). The mission's items are those to fly: ArduPilot's item 0, its
 * home, is not among them, on no firmware. A DO_JUMP names its target by the target's `seq`.
 */
export interface MissionItem {
  /** The vehicle's own number: in a mission from `firstItemOf`, in a fence and among rally points from 0. */
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

type ItemParam = 'param1' | 'param2' | 'param3' | 'param4';
export const ITEM_PARAMS: readonly ItemParam[] = ['param1', 'param2', 'param3', 'param4'];

/** More than any firmware stores. */
export const MAX_ITEMS = 5000;
