/**
 * The error catalogue: every code a client can see, with its status and its sentence.
 * Handlers throw `ApiError(code)`; one place (`front/control/server.ts`, `residual/app/server.ts`) turns it into the
 * one body `{detail, code, ...extras}` (docs/contract/node.md#errors). Nobody sets a status by number.
 */
import type { JsonObject } from './member.ts';

export const ERRORS = {
  E_BAD_REQUEST: [400, 'Malformed request. Send valid JSON as application/json.'],
  E_BAD_PATH: [400, 'Ambiguous request target. Send the plain path, without unnecessary encoding.'],
  E_EXTENSION: [400, 'This extension cannot be accepted. `kind` says why.'],
  E_UNAUTHENTICATED: [401, 'This node is paired. Send the pairing key in the X-SVC-Key header.'],
  E_STALE: [401, 'The nonce is too old. Nothing was done. Repeat the call with the nonce in this answer.'],
  E_SCOPE: [403, 'The token lacks the scope this request needs.'],
  E_RELAY_FORBIDDEN: [
    403,
    "This route is not reachable through a ground station's relay. Call it on the node's own network.",
  ],
  E_FLEET_FORBIDDEN: [403, 'This route is not reachable through the fleet. Call it on the node itself.'],
  E_CONFIRM: [
    403,
    "This needs confirmation by one of the node's operators. See `svc operator` and fleet.operators.",
  ],
  E_UNPAIRED: [403, 'This node is not paired. Pair it, or sign in with the dashboard PIN.'],
  E_REMOTE: [
    403,
    "This node accepts this only from its own network. Use its hotspot, USB link or the operator's LAN.",
  ],
  E_TLS_REQUIRED: [403, 'This node accepts this only by HTTPS, at the port in tls_port.'],
  E_ORIGIN: [403, 'The Host or Origin of this request is not allowed on this node.'],
  E_CODE: [403, 'The pairing code is wrong or has expired. Read the current one on the node.'],
  E_SIGN_IN: [403, 'The provider does not vouch for you here. Begin the sign-in again.'],
  E_CAPABILITY: [403, 'The extension was not granted what this needs.'],
  E_EXTENSION_REFUSED: [403, 'This node does not accept or run this extension.'],
  E_NOT_FOUND: [404, 'Nothing at this path.'],
  E_UNKNOWN_KEY: [404, 'No such config key. GET /api/config/schema lists them.'],
  E_METHOD: [405, 'Method not allowed here. See the Allow header.'],
  E_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again.'],
  E_ARMED: [
    409,
    'The vehicle is armed, or its state is unknown. Land it if it flies and disarm it, or repeat with the override if you are sure.',
  ],
  E_OUTCOME_UNKNOWN: [
    409,
    'The node restarted since this call; its outcome is unknown. Check before you repeat it.',
  ],
  E_HOTSPOT_ACTIVE: [409, 'The hotspot uses the only Wi-Fi card. Repeat with stop_hotspot to stop it.'],
  E_PIC_HELD: [409, 'Someone else is pilot in command. Repeat with take_over if they agree.'],
  E_NOT_PIC: [409, 'Someone else is pilot in command. Take command first.'],
  E_RADIO_REFUSED: [409, 'The radio refused.'],
  E_STICKS: [409, 'This mode needs sticks. Say manual: true if a pilot holds a radio.'],
  E_BUSY: [409, 'Another operation is running. Try again when it has finished.'],
  E_CALIBRATION: [409, 'The vehicle refuses this now. GET /api/calibration says why.'],
  E_MODEL_EXISTS: [409, 'A model of this name already exists. Delete it first, or choose another name.'],
  E_MAP_EXISTS: [409, 'A map of this name already exists. Delete it first, or choose another name.'],
  E_STOPPED: [409, 'It was stopped before it was done.'],
  E_MODEL_IN_USE: [409, 'This model is the detector. Choose another one, or none, first.'],
  E_MISSION_REJECTED: [409, 'The vehicle rejected the list. `held` is what it holds now.'],
  E_INCOMPATIBLE: [409, 'The extension does not fit this node.'],
  E_ENROLLED: [409, 'This node is already in a fleet. Leave it first.'],
  E_PAIRED: [409, 'This node is already paired. Unpair it first.'],
  E_NOT_PAIRED: [409, 'This node is not paired. Pair it first.'],
  E_IDENTITY: [409, "This parameter is the vehicle's identity on the link and cannot be changed here."],
  E_RECORDING_ACTIVE: [409, 'Already recording. Stop it first.'],
  E_RECORDING_NOT_ACTIVE: [409, 'Not recording.'],
  E_NO_DETECTOR: [409, 'No detector is selected, or it has no picture yet. See PUT /api/vision/detector.'],
  E_ROOT_ONLY: [403, 'Only root on the node can change this config key, not the API.'],
  E_PRECONDITION: [412, 'The ETag in If-Match does not belong to this session.'],
  E_TOO_LARGE: [413, 'The request body is too large for this route.'],
  E_MEDIA_TYPE: [415, 'This route does not accept this content type.'],
  E_MISSION_ITEM: [422, 'An item cannot be flown. Fix it and send the list again.'],
  E_TOO_FAR: [422, 'Too far away. Repeat with allow_far: true if you mean it.'],
  E_LOG: [422, 'This file is no log that can be read.'],
  E_MODEL: [422, 'This model cannot be used here.'],
  E_RANGE_NOT_SATISFIABLE: [416, 'The file is shorter than the requested range.'],
  E_RANGE: [422, 'The value is outside its documented range. Repeat with force if you are sure.'],
  E_INVALID_VALUE: [422, 'A value does not fit its schema.'],
  E_RATE_LIMITED: [429, 'Too many requests. Wait for Retry-After.'],
  E_LOCKED: [429, 'Locked after too many failures. Wait for Retry-After.'],
  E_UPGRADE: [426, 'This path is WebSocket only.'],
  E_HEADERS_TOO_LARGE: [431, 'The request headers are too large.'],
  E_INTERNAL: [500, "Internal error. See the node's log."],
  E_NOT_IMPLEMENTED: [501, 'This node does not have this feature.'],
  E_UPSTREAM: [502, 'The process behind this route failed. Try again.'],
  E_UPSTREAM_DOWN: [503, 'The process behind this route is not running. Try again shortly.'],
  E_NO_FC: [503, 'No flight controller is connected.'],
  E_NO_FRAME: [503, 'No video frame is available.'],
  E_NO_PIPELINE: [503, 'No video pipeline is running.'],
  E_VIEWERS: [503, 'Too many viewers. Try again later.'],
  E_STORE: [503, 'A file this request needs could not be read or written.'],
  E_AUDIT: [503, 'The audit log cannot be written, and this request needs it.'],
  E_CLOCK: [503, "The node's clock is not set. Set it (network or GPS), then try again."],
  E_DRAINING: [503, 'The node is stopping. Try again shortly.'],
  E_DISK_FULL: [507, 'Disk full. Delete recordings, or record elsewhere.'],
  E_TIMEOUT: [504, 'The process behind this route did not answer in time.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>;

export type ErrorCode = keyof typeof ERRORS;

/** The JSON body of every error: a sentence, a stable code and further facts. */
interface ErrorBody {
  readonly detail: string;
  readonly code: ErrorCode;
  readonly [extra: string]: unknown;
}

/** A refusal or failure that a client may see. `extras` become members of the body. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly extras: JsonObject;
  /** Response headers that belong to the error, lower case (`retry-after`, `allow`). */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail?: string,
    extras: JsonObject = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail ?? ERRORS[code][1]);
    this.name = 'ApiError';
    this.code = code;
    this.status = ERRORS[code][0];
    this.extras = extras;
    this.headers = headers;
  }

  body(): ErrorBody {
    return { ...this.extras, detail: this.message, code: this.code };
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}

/**
 * The word of a refusal in either of its two shapes (shared/http/answer.ts): `code`, or `error` where `code` is the number of a
 * lifecycle route. Null if it has none; another version of the node may have one that is not in the catalogue.
 */
export function errorWord(body: JsonObject): string | null {
  const word = typeof body['code'] === 'number' ? body['error'] : body['code'];
  return typeof word === 'string' ? word : null;
}

/** What the system's errors say of a file or an address (errno(3)), by their code. */
const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'is not accessible to this user',
  EPERM: 'is not accessible to this user',
  EEXIST: 'already exists',
  EISDIR: 'is a directory',
  ENOTDIR: 'has a file where a directory is needed',
  ENOTEMPTY: 'is not empty',
  EROFS: 'is on a file system that is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the quota is used up',
  EMFILE: 'cannot be opened: too many files are open',
  EBUSY: 'is in use',
  EIO: 'cannot be read or written: the device reports an error',
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  ETIMEDOUT: 'did not answer in time',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached: no route',
  ENOTFOUND: 'is an unknown host name',
  EAI_AGAIN: 'could not be looked up',
};

/** The members that Node gives the errors of the system. */
interface SystemError extends Error {
  readonly code?: unknown;
  readonly path?: unknown;
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

/** The system's own code of an error, for example ENOENT; null for any other. */
export function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

/** The message of any thrown value; of an error of the system in words, with its code: `/x does not exist (ENOENT)`. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, hostname, address, port }: SystemError = error;
  const words = typeof code === 'string' ? SYSTEM_WORDS[code] : undefined;
  const place = [path, hostname, address].find(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  if (words === undefined || place === undefined) return error.message;
  const at = place === address && typeof port === 'number' ? `${place}:${port}` : place;
  return `${at} ${words} (${String(code)})`;
}
