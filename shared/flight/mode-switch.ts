import { type Family, modeChoices, modeNumber } from './modes.ts';

/** The switch on the radio that chooses the flight mode. */

/** The places of the switch. */
const POSITIONS = [1, 2, 3, 4, 5, 6] as const;

interface ModeSwitch {
  /** The parameter with its channel; 0: none. */
  readonly channel: string;
  /** The parameter of each position, from the lowest. */
  readonly modes: readonly string[];
}

/** The parameters of the switch; null: this family has none (ArduSub's modes are on buttons of a joystick). */
export function modeSwitchOf(family: Family): ModeSwitch | null {
  const numbered = (name: string): readonly string[] => POSITIONS.map((position) => `${name}${position}`);
  switch (family) {
    case 'copter':
    case 'plane':
      return { channel: 'FLTMODE_CH', modes: numbered('FLTMODE') };
    case 'rover':
      return { channel: 'MODE_CH', modes: numbered('MODE') };
    case 'px4':
      return { channel: 'RC_MAP_FLTMODE', modes: numbered('COM_FLTMODE') };
    case 'sub':
      return null;
  }
}

type Value = (name: string) => number | null;

/** The highest µs of each position but the last: RC_Channel::read_6pos_switch of ArduPilot. */
export const SWITCH_LIMITS_US: readonly number[] = [1230, 1360, 1490, 1620, 1749];
/** RC_MIN_LIMIT_PWM and RC_MAX_LIMIT_PWM: what lies beyond is no position. */
const [LOWEST, HIGHEST] = [800, 2200] as const;

/**
 * The position that the switch is in, from 1; null: none, or it cannot be told.
 * @param channel its channel, from 1
 * @param us what comes on that channel
 * @param value of a parameter: on PX4 the calibration of the channel counts
 */
export function switchPosition(family: Family, channel: number, us: number, value: Value): number | null {
  if (channel === 0 || us === 0) return null;
  if (family === 'px4') return px4Position(channel, us, value);
  if (us <= LOWEST || us >= HIGHEST) return null;
  const at = SWITCH_LIMITS_US.findIndex((limit) => us <= limit);
  return at === -1 ? POSITIONS.length : at + 1;
}

/** RCUpdate::UpdateManualSwitches of PX4's rc_update.cpp, with the channel scaled as in RCUpdate::Run. */
function px4Position(channel: number, us: number, value: Value): number | null {
  const [min, max, trim] = [value(`RC${channel}_MIN`), value(`RC${channel}_MAX`), value(`RC${channel}_TRIM`)];
  if (min === null || max === null || trim === null) return null;
  const up = us < trim ? share(us, min, trim) - 1 : share(us, trim, max);
  const scaled = value(`RC${channel}_REV`) === -1 ? -up : up;
  const count = POSITIONS.length;
  const [lowest, highest] = [-1.05, 1.05];
  const slot = ((scaled - lowest) * count + 1 / count) / (highest - lowest) + 1 / count + 1;
  return Math.min(count, Math.floor(slot));
}

function share(us: number, low: number, high: number): number {
  return high > low ? Math.min(1, Math.max(0, (us - low) / (high - low))) : 0;
}

/** A mode by the number that stands in the parameter of a position. */
export interface SwitchMode {
  readonly value: number;
  readonly text: string;
}

/** PX4's COM_FLTMODEn: module.yaml of its commander. */
const PX4_MODES: readonly SwitchMode[] = [
  { value: -1, text: 'Unassigned' },
  { value: 0, text: 'Manual' },
  { value: 1, text: 'Altitude' },
  { value: 2, text: 'Position' },
  { value: 9, text: 'Position Slow' },
  { value: 3, text: 'Mission' },
  { value: 4, text: 'Hold' },
  { value: 10, text: 'Takeoff' },
  { value: 11, text: 'Land' },
  { value: 5, text: 'Return' },
  { value: 6, text: 'Acro' },
  { value: 7, text: 'Offboard' },
  { value: 8, text: 'Stabilized' },
  { value: 12, text: 'Follow Me' },
  { value: 13, text: 'Precision Land' },
];

/** What a position can be, where the vehicle does not describe it itself. */
export function switchModes(family: Family): readonly SwitchMode[] {
  if (family === 'px4') return PX4_MODES;
  return modeChoices(family).flatMap((text) => {
    const value = modeNumber(family, text);
    return value === null ? [] : [{ value, text }];
  });
}

/** Why a channel cannot be the switch's; null: it can. */
type SwitchProblem = 'stick' | 'option';

/**
 * ArduPilot does not arm while a channel has the modes and an option of its own (AP_Arming::rc_arm_checks).
 * @param sticks the channels of the sticks
 */
export function switchProblem(
  channel: number,
  sticks: readonly number[],
  value: Value,
): SwitchProblem | null {
  if (channel === 0) return null;
  if (sticks.includes(channel)) return 'stick';
  return (value(`RC${channel}_OPTION`) ?? 0) === 0 ? null : 'option';
}
