import type { JsonSchema } from './json-schema.ts';
import type { Made } from './made.ts';

/** The three lists of a vehicle: MAV_MISSION_TYPE 0, 1, 2. */
export const MISSION_PARTS = ['mission', 'fence', 'rally'] as const;
export type MissionPart = (typeof MISSION_PARTS)[number];

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

export const param = { type: ['number', 'null'], description: 'null: NaN, the vehicle decides' } as const;
const number = { type: 'number' } as const;

export const missionItem = {
  title: 'MissionItem',
  type: 'object',
  required: [
    'seq',
    'frame',
    'command',
    'param1',
    'param2',
    'param3',
    'param4',
    'x',
    'y',
    'z',
    'autocontinue',
  ],
  properties: {
    seq: {
      type: 'integer',
      description:
        "the vehicle's own number: a mission's from 1 on ArduPilot, where 0 is its home and not among the items, and from 0 on PX4; from 0 in a fence and among rally points",
    },
    frame: { type: 'integer', description: 'MAV_FRAME' },
    command: { type: 'integer', description: 'MAV_CMD' },
    param1: { ...param, description: `${param.description}; of DO_JUMP the seq of its target` },
    param2: param,
    param3: param,
    param4: param,
    x: { ...number, description: 'latitude in degrees, where the command has a place' },
    y: { ...number, description: 'longitude in degrees, where the command has a place' },
    z: { ...number, description: 'm, in the frame' },
    autocontinue: { type: 'integer' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/**
 * One item, with MAVLink's own member names (MISSION_ITEM_INT). The mission's items are those to fly: ArduPilot's item 0, its
 * home, is not among them, on no firmware. A DO_JUMP names its target by the target's `seq`.
 */
export type MissionItem = Made<typeof missionItem>;

type ItemParam = 'param1' | 'param2' | 'param3' | 'param4';
export const ITEM_PARAMS: readonly ItemParam[] = ['param1', 'param2', 'param3', 'param4'];

/** More than any firmware stores. */
export const MAX_ITEMS = 5000;
