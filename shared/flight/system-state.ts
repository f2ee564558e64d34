/** MAV_STATE of a heartbeat, by its number; 0 is "uninitialised, unknown". */
export const SYSTEM_STATES = [
  'uninit',
  'boot',
  'calibrating',
  'standby',
  'active',
  'critical',
  'emergency',
  'poweroff',
  'flight_termination',
] as const;

export type SystemState = (typeof SYSTEM_STATES)[number];
