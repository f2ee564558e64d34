import type { BatteryState } from '../flight/battery-state.ts';
import type { SystemState } from '../flight/system-state.ts';
import type { TelemetryGroup } from '../flight/telemetry-groups.ts';

/** Names and units: docs/contract/flight.md#telemetry. A value that was never received is null. */
export interface Telemetry {
  mav_type: number | null;
  autopilot: number | null;
  armed: boolean | null;
  mode: string | null;
  position: {
    lat: number | null;
    lon: number | null;
    alt_msl: number | null;
    alt_rel: number | null;
    heading: number | null;
    /**
     * `estimated`: reckoned on without a position fix; `lost`: the vehicle does not know where it is, and lat and lon are where it last
     * knew. Null: it has told nothing of a place.
     */
    state: 'ok' | 'estimated' | 'lost' | null;
  };
  velocity: {
    vx: number | null;
    vy: number | null;
    vz: number | null;
    groundspeed: number | null;
    airspeed: number | null;
    climb: number | null;
  };
  attitude: { roll: number | null; pitch: number | null; yaw: number | null };
  battery: {
    voltage: number | null;
    current: number | null;
    remaining: number | null;
    temperature: number | null;
    cell_voltages: number[] | null;
    /** By the vehicle's own thresholds, the worst of all batteries. */
    state: BatteryState | null;
  };
  /** Each one that tells of itself; null: none does. `battery` is the one that flies the vehicle. */
  batteries: Battery[] | null;
  /** MAV_STATE of the newest heartbeat. */
  system_state: SystemState | null;
  /** What the vehicle does by itself because something failed. */
  failsafe: { active: boolean | null; reasons: string[] };
  gps: { fix_type: number | null; satellites: number | null; eph: number | null; epv: number | null };
  home: { lat: number | null; lon: number | null; alt_msl: number | null };
  /** A channel that the receiver does not use is null. */
  rc: { channels: (number | null)[] | null; rssi: number | null };
  /** µs, from the first output on; 0: not driven. */
  servo_outputs: number[] | null;
  /** By their numbers. */
  esc: Esc[] | null;
  /** Of the accelerometers, m/s²; `clips`: how often each was beyond its range since boot. */
  vibration: { x: number | null; y: number | null; z: number | null; clips: number[] } | null;
  /** m/s, and degrees 0..360 that it comes from, as the vehicle estimates it; null: it has no estimate. */
  wind: { speed: number; direction: number } | null;
  throttle: number | null;
  /** The estimator of position and attitude; variances as in MAVLink (`ok` is explained in front/link/vehicle/ekf.ts). */
  ekf: {
    source: 'EKF_STATUS_REPORT' | 'ESTIMATOR_STATUS' | null;
    ok: boolean | null;
    /** EKF_STATUS_FLAGS or ESTIMATOR_STATUS_FLAGS, by `source`. */
    flags: number | null;
    variances: {
      velocity: number | null;
      pos_horiz: number | null;
      pos_vert: number | null;
      compass: number | null;
      terrain: number | null;
      airspeed: number | null;
    };
  };
  /** EXTENDED_SYS_STATE */
  landed_state: 'on_ground' | 'in_air' | 'takeoff' | 'landing' | null;
  /** The vehicle's numbers of items, null for ArduPilot's home; `total` (without home) and `state` are null if it does not send them. */
  mission: {
    current: number | null;
    reached: number | null;
    total: number | null;
    state: 'none' | 'not_started' | 'active' | 'paused' | 'complete' | null;
  };
  prearm: PrearmReport;
  /** Other aircraft near the vehicle, the nearest first, at most 32; null: it has told of none since it was learned. */
  traffic: { vehicles: TrafficVehicle[] } | null;
  /** The aircraft that the vehicle takes for a threat; null: none. */
  collision: CollisionThreat | null;
  /** Null: the vehicle has told nothing about a fence. */
  fence: {
    breached: boolean;
    /** Breaches since it booted. */
    count: number;
    /** Of the present breach; null: inside, or it does not say. */
    type: 'min_alt' | 'max_alt' | 'boundary' | null;
  } | null;
  /** The message that a value comes from, if there are two. */
  sources: {
    position: 'GLOBAL_POSITION_INT' | 'GPS_RAW_INT' | 'HIGH_LATENCY' | 'HIGH_LATENCY2' | null;
    battery: 'SYS_STATUS' | 'BATTERY_STATUS' | 'HIGH_LATENCY' | 'HIGH_LATENCY2' | null;
  };
  /** Seconds since each part was last received, null for never. */
  ages: Record<TelemetryGroup, number | null>;
  /** ISO 8601, wall clock of this node, when the newest heartbeat / any telemetry message came in. */
  last_heartbeat: string | null;
  last_update: string | null;
}

/** Of BATTERY_STATUS. */
export interface Battery {
  id: number;
  /** Null: it does not say. */
  function: 'all' | 'propulsion' | 'avionics' | 'payload' | null;
  voltage_v: number | null;
  current_a: number | null;
  remaining_percent: number | null;
  consumed_mah: number | null;
  temperature_c: number | null;
  cells_v: number[] | null;
  state: BatteryState | null;
}

/** An electronic speed controller, as far as it measures. */
export interface Esc {
  /** From 1. */
  number: number;
  rpm: number | null;
  voltage: number | null;
  current: number | null;
  /** Degrees Celsius. */
  temperature: number | null;
  /** Errors that it has reported since boot. */
  errors: number | null;
  /** ESC_FAILURE_FLAGS */
  failures: number | null;
}

/** Whether a disarmed vehicle would arm, and what speaks against it. */
export interface PrearmReport {
  /** Null: it has not told lately, or is armed. */
  can_arm: boolean | null;
  /** At most 32, oldest first. */
  reasons: PrearmReason[];
  /** When it last told, ISO 8601, wall clock of this node. */
  checked_at: string | null;
}

export interface PrearmReason {
  text: string;
  /**
   * Said as a text, as an event, or only as the state of a sensor; `mode` and `rc` (sticks): the vehicle says nothing until somebody
   * arms, and the node knows that it would refuse.
   */
  source: 'statustext' | 'event' | 'sys_status' | 'mode' | 'rc' | 'remote_id';
  /** When it was last told. */
  at: string;
  /** What takes it away; null: the node does not know. */
  help: ArmHelp | null;
}

interface ArmHelp {
  /** A sentence. */
  text: string;
  /** Any one of these does it, the best first; empty: nothing that a command does. */
  commands: { cmd: 'mode'; args: string[] }[];
}

/** Of ADSB_VEHICLE; null: not valid, by its flags. */
export interface TrafficVehicle {
  /** ICAO address, hexadecimal, at least six digits. */
  icao: string;
  callsign: string | null;
  squawk: number | null;
  /** ADSB_EMITTER_TYPE */
  emitter: number | null;
  lat: number | null;
  lon: number | null;
  alt_m: number | null;
  /** What the altitude was measured by. */
  alt_type: 'pressure' | 'gnss' | null;
  heading_deg: number | null;
  /** Over ground. */
  speed_ms: number | null;
  climb_ms: number | null;
  /** From the vehicle, over ground. */
  distance_m: number | null;
  /** Since the receiver heard it. */
  age_s: number;
  /** It says itself that it is not real. */
  simulated: boolean;
}

/** Of COLLISION. */
export interface CollisionThreat {
  /** As in `traffic`, or a MAVLink system id, by `source`. */
  id: string;
  source: 'adsb' | 'mavlink' | null;
  level: 'low' | 'high';
  /** What the vehicle does about it. */
  action:
    | 'none'
    | 'report'
    | 'ascend_or_descend'
    | 'move_horizontally'
    | 'move_perpendicular'
    | 'rtl'
    | 'hover'
    | null;
  /** Until the two are closest. */
  time_s: number | null;
  /** How close they come. */
  horizontal_m: number | null;
  vertical_m: number | null;
}
