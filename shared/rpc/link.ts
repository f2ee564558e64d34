import type { Scope } from '../auth/scopes.ts';
import type { Armed } from '../flight/armed.ts';
import type { BatteryState } from '../flight/battery-state.ts';
import { CALIBRATION_SENSORS, type CalibrationState, POSES } from '../flight/calibration.ts';
import { COMMAND_NAMES, type CommandName } from '../flight/command-catalogue.ts';
import type { TelemetryGroup } from '../flight/telemetry-groups.ts';
import { ITEM_PARAMS, MAX_ITEMS, MISSION_PARTS, type MissionItem } from '../mission/item.ts';
import type { MissionWarning } from '../mission/warning.ts';
import { type ExtensionValues, extensionValues } from '../plugins/telemetry-values.ts';
import { setPoint } from '../schemas/offboard.ts';
import { CAMERA_METHODS, type CameraRequest } from './camera.ts';
import { type Contract, method, type ParamsOf, shape } from './contract.ts';

/** Names and units: docs/contract.md 6.1. A value that was never received is null. */
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
    /** By the vehicle's own thresholds. */
    state: BatteryState | null;
  };
  gps: { fix_type: number | null; satellites: number | null; eph: number | null; epv: number | null };
  home: { lat: number | null; lon: number | null; alt_msl: number | null };
  rc: { channels: number[] | null; rssi: number | null };
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
    position: 'GLOBAL_POSITION_INT' | 'GPS_RAW_INT' | null;
    battery: 'SYS_STATUS' | 'BATTERY_STATUS' | null;
  };
  /** Seconds since each part was last received, null for never. */
  ages: Record<TelemetryGroup, number | null>;
  /** ISO 8601, wall clock of this node, when the newest heartbeat / any telemetry message came in. */
  last_heartbeat: string | null;
  last_update: string | null;
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
  source: 'statustext' | 'event' | 'sys_status' | 'mode' | 'rc';
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

export type { Armed };

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
    | 'signing_lost';
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
  /** A heartbeat of the autopilot came within the last 3 s. */
  mavlink_alive: boolean;
  /** An autopilot heartbeat came at least once since this process started. */
  heard: boolean;
  heartbeat_age_s: number | null;
  /** What the vehicle says; false while no heartbeat was ever heard. */
  armed: Armed;
  /** The armed guard's state: what may happen is judged by this (docs/contract.md 6). */
  guard: Armed;
  system_id: number | null;
  component_id: number | null;
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

/** Velocity in m/s: north, east, down, or in the vehicle's axes forward, right, down. */
export interface VelocitySetPoint {
  readonly type: 'velocity';
  readonly frame: 'ned' | 'body';
  readonly vx: number;
  readonly vy: number;
  readonly vz: number;
  /** Degrees a second; 0 if absent. */
  readonly yaw_rate?: number;
}

/** Degrees, m above home. */
export interface PositionSetPoint {
  readonly type: 'position';
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
  readonly yaw?: number;
  /** The place may be further away than E_TOO_FAR allows. */
  readonly allow_far?: boolean;
}

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

export interface ParamsSnapshot extends ParamsProgress {
  /** type: MAV_PARAM_TYPE of the vehicle's own PARAM_VALUE. default: null if the vehicle has not told it. */
  params: Record<string, { value: number; type: number; index: number; default: number | null }>;
  /** The file below `component-metadata/` with the vehicle's own descriptions; null without one. */
  described: string | null;
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
  /** time: ISO 8601, null if the vehicle does not know it. held: bytes, from its beginning, that the node has. */
  logs: { id: number; size: number; time: string | null; held: number }[];
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
  status: 'accepted' | 'rejected' | 'no_ack';
  cmd: CommandName;
  ack: {
    observed: boolean;
    result: number | null;
    /** MAV_RESULT without its prefix: ACCEPTED, TEMPORARILY_REJECTED, DENIED, UNSUPPORTED, FAILED, IN_PROGRESS, CANCELLED. */
    result_name: string | null;
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
  /** The flight mode that was used, if the vehicle refused the command or does not have it. */
  mode?: string;
  /** Of an accepted rebootAutopilot: s until the vehicle was back, null: not within 60 s. */
  back_after_s?: number | null;
}

/**
 * The first line of a client of `mavlink.sock`, answered by one line with a FeedReply; then MAVLink goes both ways. The edge
 * has decided what the client may do.
 */
export interface FeedHello {
  /** Shown in the diagnostics. */
  readonly name: string;
  /** False: its frames are dropped and counted. */
  readonly write: boolean;
  /** The armed guard on the wire is overridden. */
  readonly force: boolean;
  /** Of a token: what it holds; absent where nobody has scopes. */
  readonly scopes?: readonly Scope[];
  /** Messages it wants, `ATTITUDE@5,HEARTBEAT`; null for all. */
  readonly msgs: string | null;
  /** How the client calls itself, null for nobody; absent where the pilot in command does not matter. */
  readonly client_id?: string | null;
  /**
   * It is this component of the vehicle's system: only frames from it, of these messages, are taken, and the node sends its heartbeat.
   * Refused where there is such a component already.
   */
  readonly component?: FeedComponent;
}

export interface FeedComponent {
  readonly id: number;
  /** MAV_TYPE */
  readonly type: number;
  /** Ids. */
  readonly messages: readonly number[];
}

export type FeedReply = { readonly ok: true } | { readonly ok: false; readonly detail: string };

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

const NO_PARAM = { type: ['number', 'null'] } as const;
const missionPart = { enum: MISSION_PARTS } as const;
/** Names the call in `progress` events; empty: nobody listens. */
const token = { type: 'string', maxLength: 64 } as const;
/** A transfer has 4 minutes at most; a write reads back too. */
const TRANSFER_MS = 250_000;

const NOTHING = { type: 'object', additionalProperties: false } as const;
/** The armed guard was overridden. */
const force = { type: 'boolean' } as const;

/**
 * The contract of svc-link on `link.sock`. Refused commands and writes are errors with the vehicle's reason; E_NO_FC without a
 * vehicle.
 */
export const LINK = {
  server: 'svc-link',
  methods: {
    /** Sends a command and answers with the vehicle's result. If the caller disconnects, unsent frames are cancelled. */
    command: method(
      {
        type: 'object',
        required: ['cmd', 'args'],
        properties: {
          cmd: { enum: COMMAND_NAMES },
          /** Checked against the catalogue: E_BAD_REQUEST. */
          args: { type: 'array', maxItems: 8, items: { type: ['number', 'string'] } },
          /** Bound on the whole exchange, ms; default 8000 + three sends. */
          timeout_ms: { type: 'number', exclusiveMinimum: 0 },
          /** A place may be further away than E_TOO_FAR allows. */
          allow_far: { type: 'boolean' },
        },
        additionalProperties: false,
      },
      shape<CommandResult>(),
      90_000, // rebootAutopilot waits 60 s for the vehicle
    ),
    /** One set-point; the holder is whoever sent one within the last 0.5 s. E_BUSY for anybody else. */
    setpoint: method(
      {
        type: 'object',
        required: ['holder', 'point'],
        properties: { holder: { type: 'string', minLength: 1, maxLength: 128 }, point: setPoint },
        additionalProperties: false,
      },
      shape<OffboardState>(),
      1000,
    ),
    /** The holder has gone: the vehicle holds at once. */
    setpoint_end: method(
      {
        type: 'object',
        required: ['holder'],
        properties: { holder: { type: 'string', minLength: 1, maxLength: 128 } },
        additionalProperties: false,
      },
      shape<OffboardState>(),
      1000,
    ),
    params: method(NOTHING, shape<ParamsSnapshot>(), 5000),
    /**
     * Answered after the vehicle has reported the value. Three sends with their read-backs take 6 s; other writes may be queued
     * before it.
     */
    param_set: method(
      {
        type: 'object',
        required: ['name', 'value', 'force'],
        properties: { name: { type: 'string' }, value: { type: 'number' }, force },
        additionalProperties: false,
      },
      shape<ParamWriteResult>(),
      25_000,
    ),
    /** MAV_CMD_PREFLIGHT_STORAGE with its sends; a download follows. */
    params_reset: method(
      { type: 'object', required: ['force'], properties: { force }, additionalProperties: false },
      shape<ParamsReset>(),
      10_000,
    ),
    /** Four requests a second apart, and as many again for each entry that is lost. */
    logs: method(NOTHING, shape<FlightLogList>(), 15_000),
    /** Asked for again and again while somebody reads; the download stops 10 s after the last time. */
    log_fetch: method(
      {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'integer', minimum: 0, maximum: 65_535 } },
        additionalProperties: false,
      },
      shape<FlightLogPart>(),
      20_000,
    ),
    logs_erase: method(
      { type: 'object', required: ['force'], properties: { force }, additionalProperties: false },
      shape<FlightLogsErased>(),
      28_000,
    ),
    signing: method(NOTHING, shape<SigningState>(), 2000),
    /** Time for two sends, 5 s of waiting, and the restore. */
    signing_enrol: method(
      {
        type: 'object',
        required: ['key_hex', 'link_id', 'force'],
        properties: {
          /** Kept by svc-link in a 0600 file; no answer ever shows it. */
          key_hex: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
          link_id: { type: 'integer', minimum: 0, maximum: 255 },
          force,
        },
        additionalProperties: false,
      },
      shape<SigningEnrolled>(),
      10_000,
    ),
    signing_disable: method(
      { type: 'object', required: ['force'], properties: { force }, additionalProperties: false },
      shape<{ readonly success: true }>(),
      10_000,
    ),
    /**
     * The items of a list, from the cache unless `refresh`. E_BUSY: another transfer is under way, here or of a ground station;
     * E_NOT_IMPLEMENTED: the vehicle has no such list; E_TIMEOUT, E_NO_FC.
     */
    mission_read: method(
      {
        type: 'object',
        required: ['part', 'refresh', 'token'],
        properties: { part: missionPart, refresh: { type: 'boolean' }, token },
        additionalProperties: false,
      },
      shape<MissionList>(),
      TRANSFER_MS,
    ),
    /**
     * Replaces a list by checked items, and reads it back; no items clear it. Also E_MISSION_REJECTED with `index` (null: the whole
     * list), `result` (MAV_MISSION_RESULT in words) and `held`, which is null where it could not be read.
     */
    mission_write: method(
      {
        type: 'object',
        required: ['part', 'items', 'token'],
        properties: {
          part: missionPart,
          token,
          items: {
            type: 'array',
            maxItems: MAX_ITEMS,
            items: {
              type: 'object',
              required: ['seq', 'frame', 'command', ...ITEM_PARAMS, 'x', 'y', 'z', 'autocontinue'],
              properties: {
                seq: { type: 'integer' },
                frame: { type: 'integer' },
                command: { type: 'integer' },
                param1: NO_PARAM,
                param2: NO_PARAM,
                param3: NO_PARAM,
                param4: NO_PARAM,
                x: { type: 'number' },
                y: { type: 'number' },
                z: { type: 'number' },
                autocontinue: { type: 'integer' },
              },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
      shape<MissionWritten>(),
      2 * TRANSFER_MS,
    ),
    /** With the newest revision that the caller knows: answered at the next one, or after 10 s. */
    calibration: method(
      {
        type: 'object',
        required: ['seen'],
        properties: { seen: { type: ['integer', 'null'] } },
        additionalProperties: false,
      },
      shape<CalibrationSnapshot>(),
      15_000,
    ),
    /** Answered when the vehicle has taken it; a vehicle that answers at the end gets 4 s for a refusal. */
    calibrate: method(
      {
        type: 'object',
        required: ['sensor', 'force'],
        properties: { sensor: { enum: CALIBRATION_SENSORS }, force },
        additionalProperties: false,
      },
      shape<CalibrationSnapshot>(),
      10_000,
    ),
    /** The vehicle lies as it asked. */
    calibrate_confirm: method(
      {
        type: 'object',
        required: ['pose'],
        properties: { pose: { enum: POSES } },
        additionalProperties: false,
      },
      shape<CalibrationSnapshot>(),
      10_000,
    ),
    /** PX4 stops only between two steps, so it may run on for a while. */
    calibrate_cancel: method(NOTHING, shape<CalibrationSnapshot>(), 10_000),
    /** Who is pilot in command, null for nobody; forgotten after 7 s. */
    pilot: method(
      {
        type: 'object',
        required: ['client_id'],
        properties: { client_id: { type: ['string', 'null'], maxLength: 64 } },
        additionalProperties: false,
      },
      shape<Readonly<Record<string, never>>>(),
      2000,
    ),
    /** What an extension adds to the telemetry; null: nothing any more. Gone after 10 s. E_BUSY: too many extensions do. */
    extend: method(
      {
        type: 'object',
        required: ['extension', 'values'],
        properties: {
          extension: { type: 'string', minLength: 1, maxLength: 128 },
          values: { anyOf: [{ type: 'null' }, extensionValues] },
        },
        additionalProperties: false,
      },
      shape<Readonly<Record<string, never>>>(),
      2000,
    ),
    /** Where ground stations reach the vehicle, the front's WebSockets last. */
    endpoints: method(NOTHING, shape<readonly EndpointStatus[]>(), 2000),
    ...CAMERA_METHODS,
  },
  events: {
    /**
     * At once on connect, on every change of connection, arming or mode, and at least every 100 ms while telemetry changes,
     * every 500 ms otherwise. A client that has had none for 3 s must read the link as unknown.
     */
    state: shape<LinkState>(),
    /** To every client; each knows its own by the token. */
    progress: shape<WorkProgress>(),
    /** To every client; the one that tells the camera answers. */
    camera: shape<CameraRequest>(),
  },
} as const satisfies Contract;

export type CalibrateRequest = ParamsOf<typeof LINK, 'calibrate'>;
export type CommandRequest = ParamsOf<typeof LINK, 'command'>;
export type MissionReadRequest = ParamsOf<typeof LINK, 'mission_read'>;
export type MissionWriteRequest = ParamsOf<typeof LINK, 'mission_write'>;
export type SetPointRequest = ParamsOf<typeof LINK, 'setpoint'>;
export type ParamWriteRequest = ParamsOf<typeof LINK, 'param_set'>;
export type SigningEnrolRequest = ParamsOf<typeof LINK, 'signing_enrol'>;
