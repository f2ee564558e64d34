/** Parts of the telemetry that grow old one by one: `ages` has a member for each. */
export const TELEMETRY_GROUPS = [
  'position',
  'velocity',
  'attitude',
  'battery',
  'gps',
  'home',
  'rc',
  'ekf',
  'mission',
  'landed_state',
] as const;

export type TelemetryGroup = (typeof TELEMETRY_GROUPS)[number];
