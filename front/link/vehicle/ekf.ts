import type { Estimator } from '../../../shared/mavlink/decode-flight.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import { finite } from './known.ts';

type Source = NonNullable<Telemetry['ekf']['source']>;

/** Attitude, horizontal and vertical velocity, height: bits 0, 1, 2, 5 of either firmware's flags. */
const NEEDED = 1 | 2 | 4 | 32;
/** A horizontal position, relative (by optical flow, say) or absolute: bits 3 and 4. */
const POSITION = 8 | 16;
/**
 * Bit 7: the filter assumes that the vehicle stands still. PX4 sets it for every vehicle at rest, beside the position flags
 * (which it leaves out if it has no position).
 */
const CONSTANT_POSITION = 128;

/** The fault flags of each filter. */
const FAULTS: Readonly<Record<Source, number>> = {
  // UNINITIALIZED and GPS_GLITCHING
  EKF_STATUS_REPORT: CONSTANT_POSITION | 1024 | 32_768,
  // GPS_GLITCH and ACCEL_ERROR
  ESTIMATOR_STATUS: 1024 | 2048,
};

/** From here on a measurement counts as bad: ArduPilot's FS_EKF_THRESH by default, PX4's rejection of a measurement. */
const LIMIT: Readonly<Record<Source, number>> = { EKF_STATUS_REPORT: 0.8, ESTIMATOR_STATUS: 1 };

export function applyEkf({ ekf }: Telemetry, source: Source, estimator: Estimator): void {
  const { flags, velocity, posHoriz, posVert, compass, terrain, airspeed } = estimator;
  ekf.source = source;
  ekf.flags = flags;
  ekf.ok = isOk(source, estimator);
  const { variances } = ekf;
  variances.velocity = finite(velocity);
  variances.pos_horiz = finite(posHoriz);
  variances.pos_vert = finite(posVert);
  variances.compass = finite(compass);
  variances.terrain = finite(terrain);
  variances.airspeed = finite(airspeed);
}

/**
 * The filter knows attitude, velocity, height and a horizontal position, names no fault, and its measurements of velocity,
 * position, height and compass are within the limit (terrain and airspeed do not decide: a vehicle may have neither).
 */
function isOk(source: Source, estimator: Estimator): boolean {
  const { flags, velocity, posHoriz, posVert, compass } = estimator;
  if ((flags & NEEDED) !== NEEDED || (flags & POSITION) === 0 || (flags & FAULTS[source]) !== 0) return false;
  const limit = LIMIT[source];
  return !(velocity >= limit || posHoriz >= limit || posVert >= limit || compass >= limit); // NaN: no such measurement
}

/** Whether the filter has a horizontal position that moves with the vehicle. */
export function knowsPlace(source: Source, flags: number): boolean {
  const stands = source === 'EKF_STATUS_REPORT' && (flags & CONSTANT_POSITION) !== 0;
  return (flags & POSITION) !== 0 && !stands;
}
