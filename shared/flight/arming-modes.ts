import type { Family } from './modes.ts';

/**
 * The modes in which a vehicle refuses a ground station's arming, by family, in the names of `modes.ts`. ArduPilot, of the sources of
 * 4.7-dev: Copter `Mode…::allows_arming` (ArduCopter/mode.h, mode_auto.cpp), Plane `Mode…::_pre_arm_checks` (ArduPlane/mode.h), Rover
 * `Mode…::allows_arming` (Rover/mode.h); Sub's `allows_arming` is true in every mode. PX4 1.17: `mode_req_prevent_arming`
 * (commander/ModeUtil/mode_requirements.cpp).
 */
const REFUSING: Readonly<Record<Family, ReadonlySet<string>>> = {
  copter: new Set([
    'RTL',
    'CIRCLE',
    'LAND',
    'FLIP',
    'AUTOTUNE',
    'BRAKE',
    'AVOID_ADSB',
    'SMART_RTL',
    'FOLLOW',
    'SYSTEMID',
    'AUTOROTATE',
    'AUTO_RTL',
  ]),
  plane: new Set(['RTL', 'QLAND', 'QRTL', 'INITIALISING']),
  rover: new Set(['RTL', 'SMART_RTL', 'INITIALISING']),
  sub: new Set(),
  px4: new Set([
    'POSCTL.ORBIT',
    'TERMINATION',
    'AUTO.RTL',
    'AUTO.LAND',
    'AUTO.FOLLOW_TARGET',
    'AUTO.PRECLAND',
  ]),
};

/** Where it can be armed instead, the one to fly on by commands first. */
const INSTEAD: Readonly<Record<Family, readonly string[]>> = {
  copter: ['GUIDED', 'STABILIZE'],
  plane: ['FBWA', 'MANUAL'],
  rover: ['GUIDED', 'MANUAL'],
  sub: [],
  px4: ['AUTO.LOITER'],
};

/** Bit of ArduCopter's AUTO_OPTIONS: AUTO may be armed in. */
const AUTO_ALLOWS_ARMING = 1;

/**
 * @param mode a name of `modeName`
 * @param param a parameter's value, null: not known
 * @returns whether a ground station may arm in that mode as far as the mode goes; null: a parameter that is not known decides
 */
export function armsIn(family: Family, mode: string, param: (name: string) => number | null): boolean | null {
  if (family === 'copter' && mode === 'AUTO') {
    const options = param('AUTO_OPTIONS');
    return options === null ? null : (options & AUTO_ALLOWS_ARMING) !== 0;
  }
  return !REFUSING[family].has(mode);
}

/** The modes to switch to where the present one does not arm, the best first. */
export function armingModes(family: Family): readonly string[] {
  return INSTEAD[family];
}
