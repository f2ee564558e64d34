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
type CalibrationStep = (typeof CALIBRATION_STEPS)[number];

export const CALIBRATION_RESULTS = ['done', 'failed', 'cancelled'] as const;
export type CalibrationResult = (typeof CALIBRATION_RESULTS)[number];

/** At most this many lines in `steps`; the oldest go first. */
export const MAX_STEPS = 100;

/** The calibration that runs, else the newest one since svc-link started. */
export interface CalibrationState {
  running: boolean;
  /** Null: none since svc-link started; then all others are null, false or empty too. */
  sensor: CalibrationSensor | null;
  /** Null once it has ended. */
  step: CalibrationStep | null;
  /** In step `pose`: those that the vehicle takes next. */
  poses: readonly Pose[];
  /** It has to be told that it lies as it asked. */
  confirm: boolean;
  /** The newest words; after a failure the reason. */
  text: string | null;
  /** Null where the vehicle tells none. */
  percent: number | null;
  /** Null while it runs. */
  result: CalibrationResult | null;
  /** The vehicle's own words, oldest first; the node's where the vehicle says it without words. */
  steps: readonly string[];
  /** ISO 8601, wall clock of this node. */
  started_at: string | null;
  ended_at: string | null;
  /** The vehicle refuses to arm before it was rebooted. */
  reboot_required: boolean;
}
