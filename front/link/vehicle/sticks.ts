import type { Family } from '../../../shared/flight/modes.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/** RC_CHANNELS that are older than this say nothing about the sticks. */
const FRESH_S = 3;
/** Bits of ARMING_CHECK: all of them, and RC. */
const ALL_CHECKS = 1;
const RC_CHECK = 64;
/** Bits of RC_OPTIONS. */
const CHECK_THROTTLE = 32;
const SKIP_OTHERS = 64;
/** Bit of PILOT_THR_BHV: the throttle springs back to its middle. */
const SPRUNG = 1;
/** MAV_TYPE_HELICOPTER: its collective may be up in a manual mode. */
const HELICOPTER = 4;
/** ArduCopter's `has_manual_throttle`, and DRIFT, which its check adds. */
const MANUAL_THROTTLE: ReadonlySet<string> = new Set(['STABILIZE', 'ACRO', 'TURTLE', 'DRIFT']);
/** ArduCopter's `allows_GCS_or_SCR_arming_with_throttle_high`. */
const ANY_THROTTLE: ReadonlySet<string> = new Set(['GUIDED', 'GUIDED_NOGPS', 'AUTO']);
const FULL = 1000;
const DOWN = 'Move the throttle stick all the way down.';

type Param = (name: string) => number | null;

interface Stick {
  readonly channel: number;
  /** µs, within the channel's range. */
  readonly pwm: number;
  readonly min: number;
  readonly max: number;
  readonly trim: number;
  readonly dead: number;
  readonly reversed: boolean;
}

/**
 * Sticks that ArduPilot would refuse an arming for, in its words: AP_Arming::rc_arm_checks, AP_Arming_Copter::arm_checks, and
 * RC_Channel::pwm_to_range_dz and pwm_to_angle_dz of libraries/RC_Channel. What depends on a parameter that is not known is left out.
 */
export function sticksAway(
  { rc, ages, mode, mav_type: type }: Telemetry,
  family: Family,
  param: Param,
): readonly { readonly text: string; readonly help: string }[] {
  const { channels } = rc;
  const [checks, options] = [param('ARMING_CHECK'), param('RC_OPTIONS')];
  if (family === 'px4' || family === 'sub' || channels === null || mode === null) return [];
  if (checks === null || options === null || ages.rc === null || ages.rc > FRESH_S) return [];
  if ((checks & (ALL_CHECKS | RC_CHECK)) === 0) return [];
  const away: { text: string; help: string }[] = [];
  // A rover has no pitch, and its roll is the steering.
  const others =
    family === 'rover' || (options & SKIP_OTHERS) !== 0 ? [] : (['Roll', 'Pitch', 'Yaw'] as const);
  for (const name of others) {
    const stick = stickOf(name, channels, param);
    if (stick !== null && !isCentred(stick))
      away.push({
        text: `${name} (RC${stick.channel}) is not neutral`,
        help: `Centre the ${name.toLowerCase()} stick.`,
      });
  }
  const throttle = stickOf('Throttle', channels, param);
  if (throttle === null) return away;
  const isChecked = (options & CHECK_THROTTLE) !== 0;
  const words = { text: `Throttle (RC${throttle.channel}) is not neutral`, help: DOWN };
  if (family === 'rover') {
    if (isChecked && !isCentred(throttle)) away.push({ ...words, help: 'Centre the throttle stick.' });
    return away;
  }
  const up = upBy(throttle, throttle.pwm);
  if (family === 'plane') {
    // With reverse thrust the stick's range depends on more.
    if (isChecked && up > 0 && (param('THR_MIN') ?? -1) >= 0) away.push(words);
    return away;
  }
  const sprung = param('PILOT_THR_BHV');
  if (isChecked && sprung !== null && (sprung & SPRUNG) === 0 && up > 0) return [...away, words];
  if (up > 0 && MANUAL_THROTTLE.has(mode) && type !== HELICOPTER)
    return [...away, { text: 'Throttle too high', help: DOWN }];
  const zone = param('THR_DZ');
  const middle = upBy(throttle, (throttle.min + throttle.max) / 2);
  if (zone !== null && !ANY_THROTTLE.has(mode) && up > middle + zone)
    away.push({ text: 'Throttle too high', help: 'Move the throttle stick to its middle or below.' });
  return away;
}

/** Null: unknown, or nothing comes on it. */
function stickOf(
  name: 'Roll' | 'Pitch' | 'Yaw' | 'Throttle',
  channels: readonly (number | null)[],
  param: Param,
): Stick | null {
  const channel = param(`RCMAP_${name.toUpperCase()}`);
  if (channel === null) return null;
  const pwm = channels[channel - 1] ?? 0;
  const [min, max, trim, dead, reversed] = ['MIN', 'MAX', 'TRIM', 'DZ', 'REVERSED'].map((what) =>
    param(`RC${channel}_${what}`),
  );
  if (pwm === 0 || typeof min !== 'number' || typeof max !== 'number') return null;
  if (typeof trim !== 'number' || typeof dead !== 'number' || typeof reversed !== 'number') return null;
  return { channel, pwm: Math.min(max, Math.max(min, pwm)), min, max, trim, dead, reversed: reversed !== 0 };
}

function isCentred({ pwm, trim, dead }: Stick): boolean {
  return Math.abs(pwm - trim) <= dead;
}

/** 0 (down) to 1000. */
function upBy({ min, max, dead, reversed }: Stick, pwm: number): number {
  const low = min + dead;
  const now = reversed ? max - (pwm - min) : pwm;
  return now > low && max > low ? (FULL * (now - low)) / (max - low) : 0;
}
