/**
 * MAV_BATTERY_CHARGE_STATE of BATTERY_STATUS, from 1 on; 0 is unknown. ArduPilot tells its battery failsafe by it
 * (AP_BattMonitor::get_mavlink_charge_state), PX4 its battery warning.
 */
export const BATTERY_STATES = [
  'ok',
  'low',
  'critical',
  'emergency',
  'failed',
  'unhealthy',
  'charging',
] as const;

export type BatteryState = (typeof BATTERY_STATES)[number];

/** Null for a number that says nothing. */
export function batteryState(chargeState: number): BatteryState | null {
  return BATTERY_STATES[chargeState - 1] ?? null;
}

/** By MAV_BATTERY_FUNCTION; 0 is unknown. */
export const BATTERY_FUNCTIONS = [null, 'all', 'propulsion', 'avionics', 'payload'] as const;

/** From the best to the worst. */
const RANK: readonly BatteryState[] = [
  'charging',
  'ok',
  'low',
  'unhealthy',
  'critical',
  'emergency',
  'failed',
];

/** Null: none says anything. */
export function worstOf(states: readonly (BatteryState | null)[]): BatteryState | null {
  return RANK.findLast((state) => states.includes(state)) ?? null;
}
