/** What `/api/calibration` speaks of (docs/contract/flight.md#calibration). */

export const CALIBRATION_SENSORS = ['accelerometer', 'compass', 'gyro', 'level', 'barometer'] as const;
export type CalibrationSensor = (typeof CALIBRATION_SENSORS)[number];

/** How the vehicle is to lie, in the order of MAVLink's ACCELCAL_VEHICLE_POS, which counts from 1. */
export const POSES = ['level', 'left', 'right', 'nose_down', 'nose_up', 'back'] as const;
export type Pose = (typeof POSES)[number];

export const CALIBRATION_STEPS = [
  /** The vehicle was told, and has said nothing yet. */
  'starting',
  /** It waits until it lies in one of `poses`. */
  'pose',
  /** It measures, and must be left still. */
  'measuring',
  /** It wants to be turned. */
  'rotate',
  'saving',
  'cancelling',
] as const;

export const CALIBRATION_RESULTS = ['done', 'failed', 'cancelled'] as const;
export type CalibrationResult = (typeof CALIBRATION_RESULTS)[number];

/** At most this many lines in `steps`; the oldest go first. */
export const MAX_STEPS = 100;
