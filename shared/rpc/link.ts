import { CALIBRATION_SENSORS, POSES } from '../flight/calibration.ts';
import { COMMAND_NAMES } from '../flight/command-catalogue.ts';
import { extensionValues } from '../schemas/extension-values.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { sticks } from '../schemas/manual.ts';
import { ITEM_PARAMS, MAX_ITEMS, MISSION_PARTS } from '../schemas/mission-item.ts';
import { setPoint } from '../schemas/offboard.ts';
import { CAMERA_METHODS, type CameraRequest } from './camera.ts';
import { type Contract, method, type ParamsOf, shape } from './contract.ts';
import type {
  CalibrationSnapshot,
  CommandResult,
  FlightLogList,
  FlightLogPart,
  FlightLogsErased,
  MissionList,
  MissionWritten,
  ParamsReset,
  ParamsSnapshot,
  ParamWriteResult,
  RemoteIdState,
  RtkState,
  SeenMessage,
  SigningEnrolled,
  SigningState,
  WorkProgress,
} from './link-answers.ts';
import type { EndpointStatus, HeardSystem, LinkState, ManualState, OffboardState } from './link-state.ts';

const NO_PARAM = { type: ['number', 'null'] } as const;
const missionPart = { enum: MISSION_PARTS } as const;
/** Names the call in `progress` events; empty: nobody listens. */
const token = { type: 'string', maxLength: 64 } as const;
/** A transfer has 4 minutes at most; a write reads back too. */
const TRANSFER_MS = 250_000;

const NOTHING = { type: 'object', additionalProperties: false } as const;
/** Who sends it, for `commander` of the state. */
const by = { type: 'string', minLength: 1, maxLength: 300 } as const;
/** The armed guard was overridden. */
const force = { type: 'boolean' } as const;

/** A list for the vehicle, and what its writer may. */
const MISSION_WRITE = {
  type: 'object',
  required: ['part', 'items', 'token'],
  properties: {
    part: missionPart,
    token,
    /** Also where `goto` may not. */
    allow_far: { type: 'boolean' },
    /** Also modes that need sticks. */
    manual: { type: 'boolean' },
    /** A fence may be larger than the one that it takes the place of. Absent: it may. */
    may_widen: { type: 'boolean' },
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
} as const satisfies JsonSchema;

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
          /** A pilot has sticks, whatever is heard of them: no E_STICKS. */
          manual: { type: 'boolean' },
          /** Only checked, not sent. */
          dry_run: { type: 'boolean' },
          by,
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
        properties: { holder: { type: 'string', minLength: 1, maxLength: 128 }, point: setPoint, by },
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
    /** The sticks of one client, as with set-points. E_BUSY for anybody else; E_INVALID_VALUE where they do not rest at first. */
    manual: method(
      {
        type: 'object',
        required: ['holder', 'sticks'],
        properties: { holder: { type: 'string', minLength: 1, maxLength: 128 }, sticks, by },
        additionalProperties: false,
      },
      shape<ManualState>(),
      1000,
    ),
    /** The holder has gone: its sticks are let go. */
    manual_end: method(
      {
        type: 'object',
        required: ['holder'],
        properties: { holder: { type: 'string', minLength: 1, maxLength: 128 } },
        additionalProperties: false,
      },
      shape<ManualState>(),
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
    mission_write: method(MISSION_WRITE, shape<MissionWritten>(), 2 * TRANSFER_MS),
    /** Whether a list may be written by whoever asks, which is asked before `mission_write`; sends nothing. E_TOO_FAR, E_SCOPE, E_NO_FC. */
    mission_reach: method(MISSION_WRITE, shape<Record<string, never>>(), TRANSFER_MS),
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
    /** Who has sent heartbeats from the vehicle's side, at most 64. */
    systems: method(NOTHING, shape<readonly HeardSystem[]>(), 2000),
    /** The messages on the link; with a name only this one. */
    messages: method(
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: ['string', 'null'], maxLength: 64 } },
        additionalProperties: false,
      },
      shape<readonly SeenMessage[]>(),
      2000,
    ),
    remote_id: method(NOTHING, shape<RemoteIdState>(), 2000),
    /** The operator stands here now. */
    remote_id_place: method(
      {
        type: 'object',
        required: ['lat', 'lon', 'alt'],
        properties: { lat: { type: 'number' }, lon: { type: 'number' }, alt: NO_PARAM },
        additionalProperties: false,
      },
      shape<RemoteIdState>(),
      2000,
    ),
    /** What comes of corrections, and goes to the vehicle. */
    rtk: method(NOTHING, shape<RtkState>(), 2000),
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
export type ParamWriteRequest = ParamsOf<typeof LINK, 'param_set'>;
export type SigningEnrolRequest = ParamsOf<typeof LINK, 'signing_enrol'>;
