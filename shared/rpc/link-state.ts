import type { Armed } from '../flight/armed.ts';
import type { ExtensionValues } from '../schemas/extension-values.ts';
import type { Made } from '../schemas/made.ts';
import type { sticks } from '../schemas/manual.ts';
import type { heardSystem } from '../schemas/node.ts';
import type { setPoint } from '../schemas/offboard.ts';
import type { Telemetry } from './telemetry.ts';

/** A problem of the link, for people. */
export interface LinkProblem {
  code: /** `mavlink.source` leads to one of the node's own endpoints, and is not opened. */
    | 'source_is_own_endpoint'
    /** A ground station listens to no drone until one is chosen. */
    | 'no_active_drone'
    /** The node's own frames to the source come back from it. */
    | 'source_loops'
    /** An endpoint for ground stations could not be opened; it is tried again. */
    | 'endpoint_closed'
    /** The vehicle signs what it sends, with a key that the node does not have. */
    | 'signing_lost'
    /** Another vehicle is heard on the link than the one that commands go to. */
    | 'other_vehicle'
    /** A few minutes ago another vehicle took the place of the one before. */
    | 'vehicle_changed'
    /** Another program speaks with the node's own system and component id. */
    | 'same_id'
    /** Heartbeats come, and no telemetry although it was asked for. */
    | 'no_telemetry'
    /** The vehicle understands version 1 of MAVLink alone, and is spoken to in it. */
    | 'mavlink_1'
    /** The vehicle answers so that the node would have to ask without end. */
    | 'endless_asking';
  /** A sentence with the problem and what to do. */
  detail: string;
}

export interface LinkState {
  /** The configured source as text, for example `tcp:127.0.0.1:5762`. */
  source: string;
  /** What the source is open on (a device path or `tcp:host:port`), null while it is closed. */
  fc_port: string | null;
  /** Baud rate of a serial source, null for any other. */
  fc_baud: number | null;
  transport_open: boolean;
  /** Anything of the vehicle's autopilot came within the last 3 s. */
  mavlink_alive: boolean;
  /** An autopilot heartbeat came at least once since this process started. */
  heard: boolean;
  heartbeat_age_s: number | null;
  /** s since its newest frame of whatever kind. */
  link_age_s: number | null;
  /** What the vehicle says; false while no heartbeat was ever heard. */
  armed: Armed;
  /** The armed guard's state: what may happen is judged by this (docs/contract/flight.md). */
  guard: Armed;
  /** The same of all systems that were heard on the link, the worst: before the link is cut. */
  guard_any: Armed;
  system_id: number | null;
  component_id: number | null;
  /** Other vehicles that were heard within 30 s, by their system ids. */
  other_vehicles: number[];
  /** The newest time that another vehicle took the place of the one before: ISO 8601, and both system ids. Null: not since svc-link started. */
  vehicle_changed: { at: string; from: number; to: number } | null;
  /**
   * The newest change of the flight mode, and who had it changed: a caller of the node, a ground station or script beside it, the
   * vehicle's failsafe, or else the vehicle itself (its sticks, the end of a mission). Null: none was seen.
   */
  mode_changed: {
    at: string;
    from: string;
    to: string;
    by: 'node' | 'station' | 'failsafe' | 'vehicle';
  } | null;
  firmware: 'ardupilot' | 'px4' | 'unknown' | null;
  /** As AUTOPILOT_VERSION says, `4.5.7`; null until it came. */
  firmware_version: string | null;
  simulated: boolean;
  simulated_evidence: string[];
  /** Newest STATUSTEXT lines of the vehicle, at most 10, oldest first. Severity as in MAV_SEVERITY. */
  statustext: { at: string; severity: number; text: string }[];
  telemetry: Telemetry;
  /** What extensions add to the telemetry, by their ids. */
  extensions: Readonly<Record<string, ExtensionValues>>;
  params: ParamsProgress;
  offboard: OffboardState;
  manual: ManualState;
  /** Who has sent the newest command, set-point or stick of this flight, or up to a minute before it; null: nobody that is known. */
  commander: string | null;
  tlog: TlogState;
  problems: LinkProblem[];
  /** Counted since this process started. */
  counters: {
    rx_frames: number;
    rx_bytes: number;
    rx_bad_crc: number;
    rx_garbage_bytes: number;
    /** Gaps in the vehicle's sequence numbers. */
    rx_lost: number;
    /** Frames of our own that came back from the source. */
    rx_looped: number;
    /** Datagrams that the kernel dropped, as svc-link was too slow to take them; null: not measured, as on a serial line. */
    rx_kernel_dropped: number | null;
    tx_frames: number;
    tx_bytes: number;
    reconnects: number;
  };
}

/** Who has sent heartbeats from the vehicle's side. */
export type HeardSystem = Made<typeof heardSystem>;

/** Velocity in m/s: north, east, down, or in the vehicle's axes forward, right, down. */
export type VelocitySetPoint = Extract<Made<typeof setPoint>, { readonly type: 'velocity' }>;

/** Degrees, m above home. */
export type PositionSetPoint = Extract<Made<typeof setPoint>, { readonly type: 'position' }>;

export type SetPoint = VelocitySetPoint | PositionSetPoint;

/** Who sends set-points, and whether the vehicle flies by them. */
export interface OffboardState {
  /** Null while nobody does. */
  holder: string | null;
  /** It is in the mode that follows set-points. */
  following: boolean;
  /** Sent to the vehicle since svc-link started. */
  setpoints: number;
  /** Left out because they came faster than 50 a second. */
  dropped: number;
}

/** The sticks of a client, as in MANUAL_CONTROL: forward, right, up, clockwise. */
export type Sticks = Omit<Made<typeof sticks>, 'type'>;

export interface ManualState {
  /** Null while nobody has the sticks. */
  holder: string | null;
  /** Since svc-link started. */
  sent: number;
  /** Left out because they came faster than 50 a second. */
  dropped: number;
}

/** The telemetry log. */
export interface TlogState {
  /** Of the file that is being written; null: none is. */
  name: string | null;
  /** Frames that the disk did not take, or not in time, since svc-link started. */
  dropped: number;
  /** Why none is written; null: nothing is wrong. */
  problem: string | null;
}

export interface ParamsProgress {
  cached: number;
  expected: number | null;
  /** Grows by one whenever a cached value changes or a download ends. */
  generation: number;
  /** A download is under way. */
  priming: boolean;
  /** The newest download gave up with indexes missing. */
  timed_out: boolean;
}

/** One place where ground stations reach the vehicle. Frames and bytes are counted since the peer came. */
export interface EndpointStatus {
  name: string;
  open: boolean;
  /** Why it is not open, in words; null while it is. */
  problem: string | null;
  /** Peers refused because of the limit. */
  peers_turned_away: number;
  peers: PeerStatus[];
}

/** tx: to the peer; rx: from it. */
export interface PeerStatus {
  name: string;
  tx_frames: number;
  tx_bytes: number;
  /** It did not read. */
  tx_dropped: number;
  rx_frames: number;
  rx_bytes: number;
  /** The flight controller's side was closed or full. */
  rx_dropped: number;
  /** Refused by the armed guard, or because the peer is read-only. */
  rx_refused: number;
  /** Refused because the peer sends more than 1000 frames a second. */
  rx_limited: number;
  /** The vehicle's own frames, sent back. */
  rx_looped: number;
  rx_bad_crc: number;
  /** Seconds since its newest frame, null before the first. */
  last_seen_s: number | null;
}
