import { clamp, type LocalPoint } from '../../../shared/flight/geo.ts';
import type { MavSeverity } from '../mavlink-values.ts';
import type { Params } from '../params/params.ts';
import type { Demand, Vehicle } from './vehicle.ts';

export { MavSeverity } from '../mavlink-values.ts';

/** What flight modes, arming and mission see of the vehicle they fly. */
export interface Craft {
  readonly vehicle: Vehicle;
  readonly params: Params;
  /** Motors may lift it: set by a takeoff command, ends when it disarms. */
  autoArmed: boolean;
  /** What a ground station's sticks say; undefined: nothing was heard. */
  sticks: Sticks | undefined;
  /** The throttle stick of the pilot's radio, of a thousand; null: no radio is heard. */
  readonly throttle: number | null;
  /** m/s, what MAV_CMD_DO_CHANGE_SPEED said; undefined: as the parameters say. */
  cruise: number | undefined;
  text(severity: MavSeverity, text: string): void;
  /** Stops the motors, and says so. @param cause what did it; by itself the vehicle disarms after landing */
  disarm(cause?: 'command' | 'landing'): void;
  /** True once the EKF has a position. */
  positionOk(): boolean;
  /** A mission item was reached: tells the link. */
  reached(seq: number): void;
}

/** MANUAL_CONTROL: forward, right, up, clockwise; 500 is the middle of z. */
export interface Sticks {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly r: number;
  /** Simulated seconds since boot. */
  readonly at: number;
}

/** Horizontal and vertical speed limits in m/s, from the WPNAV parameters. */
export interface Speeds {
  readonly horizontal: number;
  readonly up: number;
  readonly down: number;
}

export const OFF: Demand = { kind: 'off' };
export const IDLE: Demand = { kind: 'idle' };

export function speeds(params: Params): Speeds {
  return {
    horizontal: Math.max(0.2, params.get('WPNAV_SPEED') / 100),
    up: Math.max(0.1, params.get('WPNAV_SPEED_UP') / 100),
    down: Math.max(0.1, params.get('WPNAV_SPEED_DN') / 100),
  };
}

function cruising({ params, cruise }: Craft): Speeds {
  const limits = speeds(params);
  return cruise === undefined ? limits : { ...limits, horizontal: cruise };
}

/** Flies straight to `target` and stops there. Yaw turns towards the travel unless WP_YAW_BEHAVIOR or `yaw` says otherwise. */
export function flyTo(
  craft: Craft,
  target: LocalPoint,
  limits: Speeds = cruising(craft),
  yaw?: number,
): Demand {
  const { vehicle, params } = craft;
  const accel = Math.max(0.5, params.get('WPNAV_ACCEL') / 100);
  const accelUp = Math.max(0.5, params.get('WPNAV_ACCEL_Z') / 100);
  const dn = target.n - vehicle.n;
  const de = target.e - vehicle.e;
  const du = target.u - vehicle.u;
  const distance = Math.hypot(dn, de);
  const speed = Math.min(limits.horizontal, approach(distance, accel));
  const climb = clamp(Math.sign(du) * approach(Math.abs(du), accelUp), -limits.down, limits.up);
  const turns = yaw === undefined && distance > 2 && params.get('WP_YAW_BEHAVIOR') !== 0;
  const heading = turns ? Math.atan2(de, dn) : yaw;
  return {
    kind: 'fly',
    vn: distance > 0 ? (dn / distance) * speed : 0,
    ve: distance > 0 ? (de / distance) * speed : 0,
    vu: climb,
    accel,
    accelUp,
    ...(heading === undefined ? {} : { yaw: heading }),
  };
}

/** Sinks over one place at the landing speeds until the vehicle has landed. */
export function sinkOver(craft: Craft, place: LocalPoint): Demand {
  const { vehicle, params } = craft;
  const limits = speeds(params);
  const slow = Math.max(0.3, params.get('LAND_SPEED') / 100);
  const fast = params.get('LAND_SPEED_HIGH') > 0 ? params.get('LAND_SPEED_HIGH') / 100 : limits.down;
  const low = Math.max(1, params.get('LAND_ALT_LOW') / 100);
  // Braking from the fast to the slow speed is done by the time the low height is reached.
  const sink = slow + Math.min(Math.max(0, fast - slow), approach(Math.max(0, vehicle.u - low), 1));
  const hold = flyTo(craft, { ...place, u: vehicle.u }, limits, vehicle.yaw);
  return hold.kind === 'fly' ? { ...hold, vu: -sink } : hold;
}

/** Where the vehicle comes to rest when it brakes now. */
export function stoppingPoint(craft: Craft): LocalPoint {
  const { vehicle, params } = craft;
  const accel = Math.max(0.5, params.get('WPNAV_ACCEL') / 100);
  const accelUp = Math.max(0.5, params.get('WPNAV_ACCEL_Z') / 100);
  const seconds = vehicle.groundSpeed / accel / 2;
  return {
    n: vehicle.n + vehicle.vn * seconds,
    e: vehicle.e + vehicle.ve * seconds,
    u: Math.max(0, vehicle.u + (vehicle.vu * Math.abs(vehicle.vu)) / accelUp / 2),
  };
}

// The speed from which `distance` metres are enough to stop, proportional close to the target (a plain
// square root would overshoot and oscillate in discrete steps).
function approach(distance: number, accel: number): number {
  return Math.min(distance, Math.sqrt(2 * accel * 0.8 * distance));
}
