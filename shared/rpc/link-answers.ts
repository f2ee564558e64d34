import type { CommandName } from '../flight/command-catalogue.ts';
import type { MissionWarning } from '../mission/warning.ts';
import type { CalibrationState } from '../schemas/calibration.ts';
import type { flightLogList, flightLogsErased } from '../schemas/flight-logs.ts';
import type { seenMessages } from '../schemas/inspector.ts';
import type { Made } from '../schemas/made.ts';
import type { MissionItem } from '../schemas/mission-item.ts';
import type { paramWritten } from '../schemas/params.ts';
import type { remoteId } from '../schemas/remote-id.ts';
import type { rtkState } from '../schemas/rtk.ts';
import type { capability, enrolled } from '../schemas/signing.ts';
import type { ParamsProgress } from './link-state.ts';

export interface ParamsSnapshot extends ParamsProgress {
  /** type: MAV_PARAM_TYPE of the vehicle's own PARAM_VALUE. default: null if the vehicle has not told it. */
  params: Record<string, { value: number; type: number; index: number; default: number | null }>;
  /** The file below `component-metadata/` with the vehicle's own descriptions; null without one. */
  described: string | null;
}

/** A field of a message. */
export type FieldValue = string | number | null | readonly (string | number | null)[];

/** A message of one sender, as svc-link has seen it (schemas/inspector.ts). */
export type SeenMessage = Made<typeof seenMessages>['messages'][number];

/** Remote ID (schemas/remote-id.ts). */
export type RemoteIdState = Made<typeof remoteId>;

/** A stream of a caster (schemas/rtk.ts). */
export type Mountpoint = NonNullable<RtkState['mountpoints']>[number];

/** Corrections for the vehicle's receiver (schemas/rtk.ts). */
export type RtkState = Made<typeof rtkState>;

/** After the vehicle has accepted the reset of all its parameters. */
export interface ParamsReset {
  /** Until a reboot the vehicle uses some or all of the old values. */
  reboot_required: true;
}

export type FlightLogList = Omit<Made<typeof flightLogList>, 'count'>;

/** A log in a file that grows at its end. */
export interface FlightLogPart {
  /** Below `flight-logs/`. */
  name: string;
  size: number;
  /** Bytes that are in the file. */
  have: number;
  complete: boolean;
}

export type FlightLogsErased = Made<typeof flightLogsErased>;

/** The answer after the vehicle has reported the new value. */
export type ParamWriteResult = Omit<Made<typeof paramWritten>, 'reboot_required'>;

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

export type SigningCapability = Made<typeof capability>;

export type SigningEnrolled = Made<typeof enrolled>;

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
  /** unconfirmed: acknowledged, but the vehicle does not show it. checked: nothing was sent. */
  status: 'accepted' | 'rejected' | 'unconfirmed' | 'no_ack' | 'checked';
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
