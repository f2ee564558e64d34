import type { Family } from '../flight/modes.ts';

// LogEvent and LogErrorSubsystem (libraries/AP_Logger/AP_Logger.h).
/** Of EV. */
/** TAKEOFF: of ArduCopter before 3.2. */
export const DATAFLASH_EVENT = {
  ARMED: 10,
  DISARMED: 11,
  TAKEOFF: 16,
  LAND_COMPLETE: 18,
  NOT_LANDED: 28,
} as const;
export const DATAFLASH_ERROR_GPS = 11;
/** Subsystems of ERR that are no failsafes. */
export const DATAFLASH_ERRORS: Readonly<Record<number, string>> = {
  2: 'radio',
  3: 'compass',
  10: 'flight mode',
  [DATAFLASH_ERROR_GPS]: 'GPS',
  12: 'crash check',
  13: 'flip',
  15: 'parachute',
  18: 'barometer',
  19: 'CPU load',
  21: 'terrain data',
  22: 'navigation',
  24: 'EKF primary',
  25: 'thrust loss',
  28: 'pilot input',
  30: 'internal error',
};
/** Subsystems of ERR that are. */
export const DATAFLASH_FAILSAFES: Readonly<Record<number, string>> = {
  5: 'radio',
  6: 'battery',
  7: 'GPS',
  8: 'ground station',
  9: 'fence',
  16: 'EKF check',
  17: 'EKF',
  20: 'ADS-B',
  23: 'terrain',
  26: 'sensors',
  27: 'leak',
  29: 'vibration',
  31: 'dead reckoning',
};
const FLIGHT_MODE = 10;
/** LogErrorCode, those of all subsystems. */
const CODES: Readonly<Record<number, string>> = { 1: 'failed to start', 4: 'unhealthy' };
/** Those of one, by subsystem and code. */
const OWN_CODES: Readonly<Record<string, string>> = {
  '2 2': 'late frame',
  '12 1': 'crash',
  '12 2': 'loss of control',
  '13 2': 'abandoned',
  '15 2': 'too low to release',
  '15 3': 'not released on the ground',
  '16 2': 'bad variance',
  '18 2': 'glitch',
  '18 3': 'bad depth',
  '21 2': 'missing',
  '22 2': 'the destination was refused',
  '22 3': 'RTL began again',
  '22 4': 'the circle could not begin',
  '22 5': 'the destination is outside of the fence',
  '22 6': 'RTL has no rangefinder',
  '24 0': 'the first',
  '24 1': 'the second',
  '24 2': 'the third',
  '25 1': 'a motor has lost thrust',
  '30 1': 'detected',
};

/** What an ERR says; `resolved` for the end of one. A code without words is a number. */
export function dataflashErrorWords(subsystem: number, code: number): string {
  const own = OWN_CODES[`${subsystem} ${code}`];
  if (own !== undefined) return own;
  if (code === 0) return 'resolved';
  if (DATAFLASH_FAILSAFES[subsystem] !== undefined && code === 1) return 'occurred';
  if (subsystem === FLIGHT_MODE) return `mode ${code} was refused`;
  return CODES[code] ?? `code ${code}`;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  ArduCopter: 'copter',
  Copter: 'copter',
  ArduPlane: 'plane',
  Plane: 'plane',
  ArduRover: 'rover',
  Rover: 'rover',
  ArduSub: 'sub',
};

/** What kind of vehicle a log is of, by the message in which the firmware names itself; null for any other message. */
export function familyOfMessage(words: string): Family | null {
  const [, name = ''] = /^(?:APM:)?(\w+) V\d+\.\d+/.exec(words) ?? [];
  return Object.hasOwn(FAMILIES, name) ? (FAMILIES[name] ?? null) : null;
}
