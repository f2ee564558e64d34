import type { Heartbeat } from '../../../shared/mavlink/decode.ts';

const AUTOPILOT_INVALID = 8;

/**
 * MAV_TYPE of devices that send heartbeats but are not vehicles: antenna tracker, GCS, onboard controller, gimbal, ADS-B,
 * camera …
 */
const NOT_A_VEHICLE: ReadonlySet<number> = new Set([
  5, 6, 18, 26, 27, 30, 31, 32, 33, 34, 36, 37, 38, 39, 40, 41, 42,
]);

/** Whether a flight controller sent this, and not a ground station, a camera or another computer on board. */
export function isAutopilot({ autopilot, type }: Heartbeat): boolean {
  return autopilot !== AUTOPILOT_INVALID && !NOT_A_VEHICLE.has(type);
}
