import { type Family, modeName } from './modes.ts';

/**
 * Modes that need a pilot's hand, and all that chooses one (docs/contract/flight.md#commands). What flies itself, holds, returns or lands
 * is listed; a mode that is not listed, also one that we do not know yet, needs sticks. LOITER, POSHOLD and CIRCLE of a copter take their
 * height from the throttle stick (ArduCopter's `get_pilot_desired_climb_rate`), Plane's LOITER and CIRCLE do not. A rover without sticks
 * stands, a submarine floats: they have no such modes.
 */
const FLY_THEMSELVES: Readonly<Record<'copter' | 'plane' | 'px4', ReadonlySet<string>>> = {
  copter: new Set([
    'AUTO',
    'GUIDED',
    'GUIDED_NOGPS',
    'RTL',
    'SMART_RTL',
    'AUTO_RTL',
    'LAND',
    'BRAKE',
    'FOLLOW',
    'AVOID_ADSB',
  ]),
  plane: new Set([
    'AUTO',
    'GUIDED',
    'RTL',
    'QRTL',
    'QLAND',
    'AUTOLAND',
    'LOITER',
    'LOITER_ALT_QLAND',
    'CIRCLE',
    'TAKEOFF',
    'THERMAL',
    'AVOID_ADSB',
  ]),
  px4: new Set(['OFFBOARD', 'POSCTL.ORBIT']),
};

/** MAV_CMD */
const NAV_LOITER_UNLIM = 17;
const DO_SET_MODE = 176;
const DO_AUX_FUNCTION = 218;
const DO_SET_STANDARD_MODE = 262;
const SOLO_BTN_FLY_CLICK = 42_001;

/** Bits of MAV_MODE_FLAG. */
const CUSTOM = 1;
const AUTO = 4;
const MANUAL_INPUT = 64;

/** AUX_FUNC of ArduPilot (libraries/RC_Channel/RC_Channel.h) that choose a mode which one of its vehicles needs sticks in. */
const AUX_MODES: ReadonlyMap<number, string> = new Map([
  [2, 'FLIP'],
  [17, 'AUTOTUNE'],
  [37, 'THROW'],
  [51, 'MANUAL'],
  [52, 'ACRO'],
  [56, 'LOITER'],
  [60, 'ZIGZAG'],
  [68, 'STABILIZE'],
  [69, 'POSHOLD'],
  [70, 'ALT_HOLD'],
  [71, 'FLOWHOLD'],
  [72, 'CIRCLE'],
  [73, 'DRIFT'],
  [92, 'FBWA'],
  [98, 'TRAINING'],
  [150, 'CRUISE'],
  [151, 'TURTLE'],
]);

/** MAV_STANDARD_MODE in PX4's names: POSITION_HOLD, CRUISE, ALTITUDE_HOLD. */
const STANDARD_MODES: ReadonlyMap<number, string> = new Map([
  [1, 'POSCTL'],
  [3, 'ALTITUDE_CRUISE'],
  [4, 'ALTCTL'],
]);

/** @param mode a name of `modeName` @returns whether a vehicle falls, sinks or drifts in it unless somebody has sticks */
export function needsSticks(family: Family | null, mode: string): boolean {
  if (family === null || family === 'rover' || family === 'sub') return false;
  return !FLY_THEMSELVES[family].has(mode) && !(family === 'px4' && mode.startsWith('AUTO.'));
}

/** The mode that SET_MODE or DO_SET_MODE chooses; null: none. @param base MAV_MODE_FLAG @param sub PX4's, where `main` has not both */
export function modeOfFlags(family: Family | null, base: number, main: number, sub = 0): string | null {
  if ((base & CUSTOM) !== 0) {
    const number = Math.trunc(main);
    return modeName(
      family,
      family === 'px4' && number < 0x1_00_00 ? ((number << 16) | (sub << 24)) >>> 0 : number,
    );
  }
  // Commander::handle_command; ArduPilot takes no other.
  if (family !== 'px4' || (base & AUTO) !== 0) return null;
  return (base & MANUAL_INPUT) === 0 ? null : 'MANUAL';
}

/** The mode that a command, or an item of a mission, chooses; null: none, or one that flies itself. @param params 1 and the next ones */
export function modeOfCommand(
  family: Family | null,
  command: number,
  params: readonly (number | null)[],
): string | null {
  const [first, second, third] = [params[0] ?? 0, params[1] ?? 0, params[2] ?? 0];
  switch (command) {
    case DO_SET_MODE:
      return modeOfFlags(family, first, second, third);
    case DO_AUX_FUNCTION:
      return family === 'px4' ? null : (AUX_MODES.get(Math.trunc(first)) ?? null);
    case DO_SET_STANDARD_MODE:
      return family === 'px4' ? (STANDARD_MODES.get(first) ?? null) : null;
    case SOLO_BTN_FLY_CLICK:
      return family === 'copter' ? 'LOITER' : null;
    default:
      return null;
  }
}

/** As `modeOfCommand`, of a command that comes now: there NAV_LOITER_UNLIM is ArduPilot's mode LOITER, in a mission it is a place. */
export function modeOfOrder(
  family: Family | null,
  command: number,
  params: readonly (number | null)[],
): string | null {
  if (command === NAV_LOITER_UNLIM && family !== 'px4') return 'LOITER';
  return modeOfCommand(family, command, params);
}
