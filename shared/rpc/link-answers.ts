import type { CalibrationState } from '../flight/calibration.ts';
import type { CommandName } from '../flight/command-catalogue.ts';
import type { MissionWarning } from '../mission/warning.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import type { ParamsProgress } from './link-state.ts';

export interface ParamsSnapshot extends ParamsProgress {
  /** type: MAV_PARAM_TYPE of the vehicle's own PARAM_VALUE. default: null if the vehicle has not told it. */
  params: Record<string, { value: number; type: number; index: number; default: number | null }>;
  /** The file below `component-metadata/` with the vehicle's own descriptions; null without one. */
  described: string | null;
}

export type FieldValue = string | number | null | readonly (string | number | null)[];

/** A message of one sender, as svc-link has seen it (schemas/inspector.ts). */
export interface SeenMessage {
  system: number;
  component: number;
  id: number;
  name: string | null;
  hz: number;
  bytes: number;
  age_s: number;
  last: Readonly<Record<string, FieldValue>> | null;
}

/** Remote ID (schemas/remote-id.ts). */
export interface RemoteIdState {
  state: 'absent' | 'ready' | 'not_ready';
  reasons: string[];
  operator_id_set: boolean;
  operator_place: 'live' | 'fixed' | null;
  transmitter: { system: number; component: number; age_s: number } | null;
}

/** A stream of a caster (schemas/rtk.ts). */
export interface Mountpoint {
  name: string;
  place: string;
  format: string;
  lat: number | null;
  lon: number | null;
  distance_km: number | null;
  wants_position: boolean;
}

/** Corrections for the vehicle's receiver (schemas/rtk.ts). */
export interface RtkState {
  state: 'off' | 'connecting' | 'streaming' | 'stale' | 'failed';
  source: string;
  mountpoint: string | null;
  bytes: number;
  frames: number;
  bad_frames: number;
  dropped: number;
  messages: Readonly<Record<string, number>>;
  rate_bps: number;
  age_s: number | null;
  problem: string | null;
  mountpoints: readonly Mountpoint[] | null;
}

/** After the vehicle has accepted the reset of all its parameters. */
export interface ParamsReset {
  /** Until a reboot the vehicle uses some or all of the old values. */
  reboot_required: true;
}

export interface FlightLogList {
  /** `node`: the vehicle was not asked, for the reason in `note`. */
  from: 'vehicle' | 'node';
  /** A sentence; null: nothing to say. */
  note: string | null;
  /**
   * time: ISO 8601, null if the vehicle does not know it. held: bytes, from its beginning, that the node has. complete: that is all there
   * is of it, maybe less than listed.
   */
  logs: { id: number; size: number; time: string | null; held: number; complete: boolean }[];
}

/** A log in a file that grows at its end. */
export interface FlightLogPart {
  /** Below `flight-logs/`. */
  name: string;
  size: number;
  /** Bytes that are in the file. */
  have: number;
  complete: boolean;
}

export interface FlightLogsErased {
  erased: number;
  left: number;
}

/** The answer after the vehicle has reported the new value. */
export interface ParamWriteResult {
  name: string;
  value: number;
  ack: boolean;
  /** The last value that the vehicle reported; null if there was none. */
  cached_value: number | null;
  /** MAV_PARAM_TYPE */
  type: number;
}

/** Signing between this node and the flight controller. */
export interface SigningState {
  capability: SigningCapability;
  /** The vehicle's SIGNING_REQUIRE; null if it has none, or has not sent it. */
  require: boolean | null;
  /** Counted since svc-link started. */
  counters: {
    /** Frames of ours that went out signed. */
    tx_signed_count: number;
    /** Signed frames of the vehicle, whatever key they were signed with. */
    rx_signed_count: number;
    /** Of those, signed with the key that was enrolled. */
    rx_verified_count: number;
    rx_bad_signature_count: number;
    /** ISO 8601, wall clock of this node. */
    last_signed_rx_at: string | null;
  };
  /** Our own frames are signed. */
  signing: boolean;
  /** First 8 hex characters of the SHA-256 of the key in use. */
  key_id: string | null;
}

export interface SigningCapability {
  supported: boolean;
  reason:
    | 'ok'
    | 'fc_not_connected'
    | 'firmware_px4_no_persistent_store'
    | 'firmware_not_supported'
    | 'firmware_too_old';
  firmware_name: string | null;
  firmware_version: string | null;
  /** The vehicle has parameters named SIGNING_*. */
  signing_params_present: boolean;
}

export interface SigningEnrolled {
  success: true;
  key_id: string;
  /** ISO 8601, seconds. */
  enrolled_at: string;
}

/** One list of the vehicle. */
export interface MissionList {
  /** To fly, without ArduPilot's home. */
  items: readonly MissionItem[];
  count: number;
  from: 'vehicle' | 'cache';
  /** ISO 8601, wall clock of this node. */
  read_at: string;
  /** The vehicle's own id of this list; null if it tells none (ArduPilot). */
  id: number | null;
}

/** The vehicle has taken a list over: what it held when it was read back. */
export interface MissionWritten extends MissionList {
  /** Members that it holds otherwise than they were sent, in the order of the items. */
  warnings: readonly MissionWarning[];
}

/** `revision` grows with each change of the state. */
export interface CalibrationSnapshot {
  revision: number;
  state: CalibrationState;
}

/** How far the long work of one call is. */
export interface WorkProgress {
  /** As the caller named it. */
  token: string;
  done: number;
  total: number | null;
  text: string;
}

export interface CommandResult {
  /** unconfirmed: acknowledged, but the vehicle does not show it. */
  status: 'accepted' | 'rejected' | 'unconfirmed' | 'no_ack';
  cmd: CommandName;
  ack: {
    observed: boolean;
    result: number | null;
    /** MAV_RESULT without its prefix: ACCEPTED, TEMPORARILY_REJECTED, DENIED, UNSUPPORTED, FAILED, IN_PROGRESS, CANCELLED. */
    result_name: string | null;
    /** By its ack and, where its state counts, by that too. */
    accepted: boolean;
    /**
     * The vehicle's reason if it was not accepted: its newest text during the command and shortly after, or an earlier failed
     * arming check.
     */
    statustext?: string;
    /** All of its reasons, oldest first, at most 8. */
    reasons?: string[];
    /** What helps, in the node's words, where the vehicle does not say it. */
    hint?: string;
  };
  /** s since anything was heard of the vehicle, where that is more than 3; null: not since svc-link started. */
  silent_s?: number | null;
  /** The flight mode that was used, if the vehicle refused the command or does not have it. */
  mode?: string;
  /** Of an accepted rebootAutopilot: s until the vehicle was back, null: not within 60 s. */
  back_after_s?: number | null;
}
