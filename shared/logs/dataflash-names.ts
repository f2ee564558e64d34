import type { Family } from '../flight/modes.ts';

// LogEvent and LogErrorSubsystem (libraries/AP_Logger/AP_Logger.h).
/** Of EV. */
export const DATAFLASH_EVENT = { ARMED: 10, DISARMED: 11, LAND_COMPLETE: 18, NOT_LANDED: 28 } as const;
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
const FAMILIES: Readonly<Record<string, Family>> = {
  ArduCopter: 'copter',
  ArduPlane: 'plane',
  ArduRover: 'rover',
  Rover: 'rover',
  ArduSub: 'sub',
};

/** What kind of vehicle a log is of, by the message in which the firmware names itself; null for any other message. */
export function familyOfMessage(words: string): Family | null {
  const [, name = ''] = /^(\w+) V\d+\.\d+/.exec(words) ?? [];
  return Object.hasOwn(FAMILIES, name) ? (FAMILIES[name] ?? null) : null;
}
