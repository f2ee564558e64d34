/** What a heartbeat says of its sender. */
interface Kind {
  /** MAV_AUTOPILOT */
  readonly autopilot: number;
  /** MAV_TYPE */
  readonly type: number;
}

/** MAV_AUTOPILOT */
const GENERIC = 0;
const AUTOPILOT_INVALID = 8;
/** MAV_COMP_ID_AUTOPILOT1 */
export const MAIN_COMPONENT = 1;

/**
 * MAV_TYPE of devices that send heartbeats but are not vehicles: antenna tracker, GCS, onboard controller, gimbal, ADS-B,
 * camera …
 */
const NOT_A_VEHICLE: ReadonlySet<number> = new Set([
  5, 6, 18, 26, 27, 30, 31, 32, 33, 34, 36, 37, 38, 39, 40, 41, 42,
]);

/** Whether a flight controller sent this by all that it says, and not a ground station, a camera or another computer on board. */
export function isSure({ autopilot, type }: Kind): boolean {
  return autopilot !== GENERIC && autopilot !== AUTOPILOT_INVALID && !NOT_A_VEHICLE.has(type);
}

/** The same, or one that says nothing of its firmware and has the component of an autopilot: scripts and gimbals say nothing either. */
export function isAutopilot(heartbeat: Kind, component: number): boolean {
  const { autopilot, type } = heartbeat;
  return (
    isSure(heartbeat) || (autopilot === GENERIC && component === MAIN_COMPONENT && !NOT_A_VEHICLE.has(type))
  );
}
