/** NAVIGATION_STATE_* (msg/versioned/VehicleStatus.msg of PX4), as modes are called elsewhere. */
const MODES: Readonly<Record<number, string>> = {
  0: 'MANUAL',
  1: 'ALTCTL',
  2: 'POSCTL',
  3: 'AUTO.MISSION',
  4: 'AUTO.LOITER',
  5: 'AUTO.RTL',
  6: 'POSCTL.SLOW',
  10: 'ACRO',
  12: 'DESCEND',
  13: 'TERMINATION',
  14: 'OFFBOARD',
  15: 'STABILIZED',
  17: 'AUTO.TAKEOFF',
  18: 'AUTO.LAND',
  19: 'AUTO.FOLLOW_TARGET',
  20: 'AUTO.PRECLAND',
  21: 'POSCTL.ORBIT',
  22: 'AUTO.VTOL_TAKEOFF',
};

/** `arming_state` of vehicle_status. */
export const ULOG_ARMED = 2;

/** The name of `nav_state` of vehicle_status. */
export function ulogModeName(nav: number): string {
  return MODES[nav] ?? `MODE_${nav}`;
}
