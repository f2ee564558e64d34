import { failsafesOf } from '../../../../../../shared/flight/failsafes.ts';
import type { Family } from '../../../../../../shared/flight/modes.ts';

/** Whether a vehicle has been set up, as its parameters tell. */

export const STEPS = ['sensors', 'radio', 'modes', 'failsafes'] as const;
export type StepId = (typeof STEPS)[number];

/** Null: the parameters that tell it are not there. */
type StepState = boolean | null;

type Value = (name: string) => number | null;

/**
 * By the same parameters as QGroundControl judges it (its `APM…Component.cc` and `PX4 …Component.cc`): a compass and an accelerometer
 * without offsets, and a radio whose ends are the firmware's own, have never been calibrated.
 */
export function stepsOf(family: Family, value: Value): Readonly<Record<StepId, StepState>> {
  return family === 'px4'
    ? {
        sensors: every(value, ['CAL_GYRO0_ID', 'CAL_ACC0_ID', 'CAL_MAG0_ID'], (id) => id !== 0),
        radio: every(value, ['RC_MAP_ROLL', 'RC_MAP_PITCH', 'RC_MAP_THROTTLE'], (channel) => channel !== 0),
        modes: every(value, ['RC_MAP_FLTMODE'], (channel) => channel !== 0),
        failsafes: failsafesSet(family, value),
      }
    : {
        sensors: both(
          some(value, ['INS_ACCOFFS_X', 'INS_ACCOFFS_Y', 'INS_ACCOFFS_Z']),
          value('COMPASS_ENABLE') === 0
            ? true
            : some(value, ['COMPASS_OFS_X', 'COMPASS_OFS_Y', 'COMPASS_OFS_Z']),
        ),
        radio: ends(value),
        modes: some(value, ['FLTMODE1', 'FLTMODE2', 'FLTMODE3', 'MODE1', 'MODE2', 'MODE3']),
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

function ends(value: Value): StepState {
  const known = [1, 2, 3, 4].flatMap((channel) => {
    const [low, high] = [value(`RC${channel}_MIN`), value(`RC${channel}_MAX`)];
    return low === null || high === null ? [] : [{ low, high }];
  });
  return known.length === 0 ? null : known.some(({ low, high }) => low !== 1100 || high !== 1900);
}

function every(value: Value, names: readonly string[], isSet: (value: number) => boolean): StepState {
  const known = names.map(value).filter((each) => each !== null);
  return known.length === 0 ? null : known.every(isSet);
}

function some(value: Value, names: readonly string[]): StepState {
  const known = names.map(value).filter((each) => each !== null);
  return known.length === 0 ? null : known.some((each) => each !== 0);
}

function both(a: StepState, b: StepState): StepState {
  return a === null ? b : b === null ? a : a && b;
}
