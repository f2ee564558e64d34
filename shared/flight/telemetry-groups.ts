/** Parts of the telemetry with an age of their own in `ages`. */
export const TELEMETRY_GROUPS = [
  'position',
  'velocity',
  'attitude',
  'battery',
  'gps',
  'home',
  'rc',
  'servo_outputs',
  'esc',
  'vibration',
  'wind',
  'ekf',
  'mission',
  'landed_state',
  'traffic',
  'collision',
  'fence',
] as const;

export type TelemetryGroup = (typeof TELEMETRY_GROUPS)[number];
