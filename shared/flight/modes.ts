/**
 * Flight mode names: a heartbeat's custom_mode to a name and back (docs/contract/flight.md). ArduPilot: `Mode::Number` of
 * each vehicle and MAVLink's COPTER_MODE, PLANE_MODE, ROVER_MODE, SUB_MODE; PX4: px4_custom_mode.h up to 1.18.
 */

export type Family = 'copter' | 'plane' | 'rover' | 'sub' | 'px4';

/** MAV_AUTOPILOT */
export const AUTOPILOT_ARDUPILOT = 3;
export const AUTOPILOT_PX4 = 12;

type Table = readonly (readonly [name: string, number: number])[];

// If a number has two names, the first is shown.
const COPTER: Table = [
  ['STABILIZE', 0],
  ['ACRO', 1],
  ['ALT_HOLD', 2],
  ['ALTHOLD', 2],
  ['AUTO', 3],
  ['GUIDED', 4],
  ['LOITER', 5],
  ['RTL', 6],
  ['CIRCLE', 7],
  ['LAND', 9],
  ['DRIFT', 11],
  ['SPORT', 13],
  ['FLIP', 14],
  ['AUTOTUNE', 15],
  ['POSHOLD', 16],
  ['BRAKE', 17],
  ['THROW', 18],
  ['AVOID_ADSB', 19],
  ['GUIDED_NOGPS', 20],
  ['SMART_RTL', 21],
  ['FLOWHOLD', 22],
  ['FOLLOW', 23],
  ['ZIGZAG', 24],
  ['SYSTEMID', 25],
  ['AUTOROTATE', 26],
  ['AUTO_RTL', 27],
  ['TURTLE', 28],
  ['RATE_ACRO', 29],
];

const PLANE: Table = [
  ['MANUAL', 0],
  ['CIRCLE', 1],
  ['STABILIZE', 2],
  ['TRAINING', 3],
  ['ACRO', 4],
  ['FBWA', 5],
  ['FBWB', 6],
  ['CRUISE', 7],
  ['AUTOTUNE', 8],
  ['AUTO', 10],
  ['RTL', 11],
  ['LOITER', 12],
  ['TAKEOFF', 13],
  ['AVOID_ADSB', 14],
  ['GUIDED', 15],
  ['INITIALISING', 16],
  ['QSTABILIZE', 17],
  ['QHOVER', 18],
  ['QLOITER', 19],
  ['QLAND', 20],
  ['QRTL', 21],
  ['QAUTOTUNE', 22],
  ['QACRO', 23],
  ['THERMAL', 24],
  ['LOITER_ALT_QLAND', 25],
  ['AUTOLAND', 26],
];

const ROVER: Table = [
  ['MANUAL', 0],
  ['ACRO', 1],
  ['STEERING', 3],
  ['HOLD', 4],
  ['LOITER', 5],
  ['FOLLOW', 6],
  ['SIMPLE', 7],
  ['DOCK', 8],
  ['CIRCLE', 9],
  ['AUTO', 10],
  ['RTL', 11],
  ['SMART_RTL', 12],
  ['GUIDED', 15],
  ['INITIALISING', 16],
];

const SUB: Table = [
  ['STABILIZE', 0],
  ['ACRO', 1],
  ['ALT_HOLD', 2],
  ['ALTHOLD', 2],
  ['AUTO', 3],
  ['GUIDED', 4],
  ['CIRCLE', 7],
  ['SURFACE', 9],
  ['POSHOLD', 16],
  ['MANUAL', 19],
  ['MOTOR_DETECT', 20],
  ['SURFTRAK', 21],
];

/** PX4's custom_mode: main mode in bits 16..23, sub mode in 24..31. */
const px4 = (main: number, sub = 0): number => main * 0x10000 + sub * 0x1000000;

const PX4: Table = [
  ['MANUAL', px4(1)],
  ['ALTCTL', px4(2)],
  ['ALTITUDE', px4(2)],
  ['POSCTL', px4(3)],
  ['POSITION', px4(3)],
  ['POSCTL.ORBIT', px4(3, 1)],
  ['POSCTL.SLOW', px4(3, 2)],
  ['ACRO', px4(5)],
  ['OFFBOARD', px4(6)],
  ['STABILIZED', px4(7)],
  ['RATTITUDE', px4(8)], // removed from PX4 in 2020
  ['TERMINATION', px4(10)],
  ['ALTITUDE_CRUISE', px4(11)],
  ['AUTO.READY', px4(4, 1)],
  ['AUTO.TAKEOFF', px4(4, 2)],
  ['AUTO.LOITER', px4(4, 3)],
  ['HOLD', px4(4, 3)],
  ['AUTO.MISSION', px4(4, 4)],
  ['AUTO', px4(4, 4)],
  ['AUTO.RTL', px4(4, 5)],
  ['RETURN', px4(4, 5)],
  ['AUTO.LAND', px4(4, 6)],
  ['AUTO.FOLLOW_TARGET', px4(4, 8)],
  ['AUTO.PRECLAND', px4(4, 9)],
  ['AUTO.VTOL_TAKEOFF', px4(4, 10)],
  // Modes that an application on board has registered.
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`AUTO.EXTERNAL${n}`, px4(4, 10 + n)] as const),
  ['AUTO.GUIDED_COURSE', px4(4, 19)],
];

const TABLES: Readonly<Record<Family, Table>> = {
  copter: COPTER,
  plane: PLANE,
  rover: ROVER,
  sub: SUB,
  px4: PX4,
};

/** MAV_TYPE of each ArduPilot family; VTOL planes (19..25) are planes. */
const TYPES: Readonly<Record<Exclude<Family, 'px4'>, readonly number[]>> = {
  copter: [2, 3, 4, 13, 14, 15, 29, 35, 43],
  plane: [1, 16, 19, 20, 21, 22, 23, 24, 25, 28],
  rover: [10, 11],
  sub: [12],
};

/**
 * The family whose mode table a vehicle uses, null if there is none. Arguments: MAV_AUTOPILOT and MAV_TYPE of its heartbeat.
 */
export function familyOf(autopilot: number, type: number): Family | null {
  if (autopilot === AUTOPILOT_PX4) return 'px4';
  if (autopilot !== AUTOPILOT_ARDUPILOT) return null;
  if (TYPES.copter.includes(type)) return 'copter';
  if (TYPES.plane.includes(type)) return 'plane';
  if (TYPES.rover.includes(type)) return 'rover';
  return TYPES.sub.includes(type) ? 'sub' : null;
}

/** The name of a heartbeat's custom_mode; `MODE_<n>` when no table has it. */
export function modeName(family: Family | null, customMode: number): string {
  if (family !== null) {
    for (const [name, number] of TABLES[family]) if (number === customMode) return name;
  }
  return `MODE_${customMode}`;
}

/** custom_mode of a name in any case, null when the family has no such mode. PX4's automatic modes also go by their short name. */
export function modeNumber(family: Family, name: string): number | null {
  const wanted = name.trim().toUpperCase();
  for (const [known, number] of TABLES[family]) {
    if (known === wanted || (family === 'px4' && known === `AUTO.${wanted}`)) return number;
  }
  return null;
}

/** Names to choose from, for an error sentence. */
export function modeNames(family: Family): readonly string[] {
  return TABLES[family].map(([name]) => name);
}

/** The modes of a family to choose from: each once, without those that nobody chooses. */
export function modeChoices(family: Family): readonly string[] {
  const numbers = new Set<number>();
  return TABLES[family].flatMap(([name, number]) => {
    if (numbers.has(number) || name === 'INITIALISING' || name === 'AUTO.READY') return [];
    numbers.add(number);
    return [name];
  });
}
