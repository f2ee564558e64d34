import { failsafesOf } from '../../../../../../shared/flight/failsafes.ts';
import type { Family } from '../../../../../../shared/flight/modes.ts';

/** Whether a vehicle has been set up, as its parameters tell. */

export const STEPS = ['sensors', 'radio', 'modes', 'failsafes'] as const;
export type StepId = (typeof STEPS)[number];

/** Null: the parameters that tell it are not there. */
type StepState = boolean | null;

type Value = (name: string) => number | null;

/** ArduPilot's channels of the sticks, and those that they have unless told otherwise. */
const STICKS: readonly (readonly [param: string, usual: number])[] = [
  ['RCMAP_ROLL', 1],
  ['RCMAP_PITCH', 2],
  ['RCMAP_THROTTLE', 3],
  ['RCMAP_YAW', 4],
];

/**
 * By the same parameters as QGroundControl 4.3 judges it (src/AutoPilotPlugins: APMSensorsComponent.cc and APMRadioComponent.cc; for PX4
 * SensorsComponent.cc, PX4RadioComponent.cc and FlightModesComponent.cc): a compass in use or an accelerometer without offsets, and a
 * radio whose ends are the firmware's own, have never been calibrated. A switch with one and the same mode in each position switches
 * nothing: so ArduCopter and ArduRover come. PX4 without sticks from a radio (COM_RC_IN_MODE 1: joystick, 4: none) needs none of it.
 */
export function stepsOf(family: Family, value: Value): Readonly<Record<StepId, StepState>> {
  return family === 'px4'
    ? {
        sensors: every(value, [
          'CAL_GYRO0_ID',
          'CAL_ACC0_ID',
          ...(value('SYS_HAS_MAG') === 0 ? [] : ['CAL_MAG0_ID']),
        ]),
        radio:
          withoutRadio(value) ||
          every(value, ['RC_MAP_ROLL', 'RC_MAP_PITCH', 'RC_MAP_YAW', 'RC_MAP_THROTTLE']),
        modes: withoutRadio(value) || every(value, ['RC_MAP_FLTMODE']),
        failsafes: failsafesSet(family, value),
      }
    : {
        sensors: both(some(value, axes('INS_ACCOFFS')), compasses(value)),
        radio: ends(value),
        modes: differ(value, ['FLTMODE', 'MODE']),
        failsafes: failsafesSet(family, value),
      };
}

/** Something is done when the radio or the ground station is lost, and when the battery is low. */
function failsafesSet(family: Family, value: Value): StepState {
  const found = failsafesOf(family, value);
  if (found.length === 0) return null;
  return found
    .filter(({ failure }) => failure !== 'fence' && failure !== 'estimator')
    .every(({ off }) => !off);
}

function withoutRadio(value: Value): boolean {
  const sticks = value('COM_RC_IN_MODE');
  return sticks === 1 || sticks === 4;
}

/** Each compass that is there and in use has offsets. Without one in use there is nothing to calibrate. */
function compasses(value: Value): StepState {
  if (value('COMPASS_ENABLE') === 0) return true;
  return ['', '2', '3'].reduce<StepState>((sofar, at) => {
    const absent = value(`COMPASS_DEV_ID${at}`) === 0 || value(`COMPASS_USE${at}`) === 0;
    return absent ? both(sofar, true) : both(sofar, some(value, axes(`COMPASS_OFS${at}`)));
  }, null);
}

function axes(sensor: string): readonly string[] {
  return ['X', 'Y', 'Z'].map((axis) => `${sensor}_${axis}`);
}

function differ(value: Value, prefixes: readonly string[]): StepState {
  const modes = prefixes
    .flatMap((prefix) => [1, 2, 3, 4, 5, 6].map((position) => value(`${prefix}${position}`)))
    .filter((each) => each !== null);
  return modes.length === 0 ? null : new Set(modes).size > 1;
}

function ends(value: Value): StepState {
  const known = STICKS.flatMap(([param, usual]) => {
    const channel = value(param) ?? usual;
    const [low, high] = [value(`RC${channel}_MIN`), value(`RC${channel}_MAX`)];
    return low === null || high === null ? [] : [{ low, high }];
  });
  return known.length === 0 ? null : known.some(({ low, high }) => low !== 1100 || high !== 1900);
}

function every(value: Value, names: readonly string[]): StepState {
  const known = names.map(value).filter((each) => each !== null);
  return known.length === 0 ? null : known.every((each) => each !== 0);
}

function some(value: Value, names: readonly string[]): StepState {
  const known = names.map(value).filter((each) => each !== null);
  return known.length === 0 ? null : known.some((each) => each !== 0);
}

function both(a: StepState, b: StepState): StepState {
  return a === null ? b : b === null ? a : a && b;
}
