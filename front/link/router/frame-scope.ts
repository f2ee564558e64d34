import type { Scope } from '../../../shared/auth/scopes.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Payload } from '../../../shared/mavlink/payload.ts';

/** Offset of `command` in COMMAND_LONG and COMMAND_INT. */
export const COMMAND_AT = 28;
/** Offset of `payload` in FILE_TRANSFER_PROTOCOL, and of the opcode in it. */
export const FTP_AT = 3;
const FTP_OPCODE_AT = FTP_AT + 3;
/**
 * The opcodes of MAVLink FTP that change nothing: None, TerminateSession, ResetSessions, ListDirectory, OpenFileRO, ReadFile,
 * CalcFileCRC32, BurstReadFile, ACK, NAK (mavlink.io, File Transfer Protocol). Every other one counts as a write: `@PARAM` is
 * written through them, and files and directories are removed.
 */
const FTP_READS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 14, 15, 128, 129]);

// MAV_CMD
const DO_FLIGHTTERMINATION = 185;
const DO_PARACHUTE = 208;
const DO_MOTOR_TEST = 209;
const PREFLIGHT_CALIBRATION = 241;
const PREFLIGHT_STORAGE = 245;
const PREFLIGHT_REBOOT_SHUTDOWN = 246;
export const COMPONENT_ARM_DISARM = 400;
/** PX4's way to a motor test. */
const ACTUATOR_TEST = 310;
/** Of ArduPilot's dialect: calibrates the compass. */
const DO_START_MAG_CAL = 42_424;
/** param2 of COMPONENT_ARM_DISARM: whatever the vehicle does, also in flight. */
const FORCED = 21_196;

export const GUARDED_COMMANDS: ReadonlyMap<number, Scope> = new Map([
  [PREFLIGHT_CALIBRATION, 'admin'],
  [DO_START_MAG_CAL, 'admin'],
  [PREFLIGHT_STORAGE, 'destructive'],
  [PREFLIGHT_REBOOT_SHUTDOWN, 'destructive'],
]);

/**
 * Of a token alone. A ground station may test motors while the vehicle says that it is armed: ArduPilot says so during the test itself,
 * and QGroundControl repeats the command then.
 */
const DESTRUCTIVE: ReadonlySet<number> = new Set([
  DO_FLIGHTTERMINATION,
  DO_PARACHUTE,
  DO_MOTOR_TEST,
  ACTUATOR_TEST,
]);

/** MAV_MISSION_TYPE */
const FENCE = 1;
const ALL_TYPES = 255;

export function writesByFtp(payload: Payload): boolean {
  return !FTP_READS.has(payload.u8(FTP_OPCODE_AT));
}

/**
 * Say by law who flies (Remote ID), which is for the pairing key alone (`remote_id.*`): no scope is enough. Where the operator
 * stands, OPEN_DRONE_ID_SYSTEM_UPDATE, is for whoever may fly.
 */
const KEY_ALONE: ReadonlySet<number> = new Set<number>([
  MSG.OPEN_DRONE_ID_BASIC_ID,
  MSG.OPEN_DRONE_ID_AUTHENTICATION,
  MSG.OPEN_DRONE_ID_SELF_ID,
  MSG.OPEN_DRONE_ID_SYSTEM,
  MSG.OPEN_DRONE_ID_OPERATOR_ID,
  MSG.OPEN_DRONE_ID_MESSAGE_PACK,
]);

export function isForKeyAlone({ id }: Frame): boolean {
  return KEY_ALONE.has(id);
}

/** The scope that a token needs besides `flight` to send a frame, as for the row that does the same; null if none. */
export function scopeOfFrame(frame: Frame, reader: Payload): Scope | null {
  switch (frame.id) {
    case MSG.PARAM_SET:
      return 'admin';
    case MSG.FILE_TRANSFER_PROTOCOL:
      return writesByFtp(reader.load(frame)) ? 'admin' : null;
    case MSG.SETUP_SIGNING:
    case MSG.SERIAL_CONTROL:
    case MSG.LOG_ERASE:
      return 'destructive';
    case MSG.COMMAND_LONG:
    case MSG.COMMAND_INT:
      return scopeOfCommand(reader.load(frame));
    case MSG.MISSION_CLEAR_ALL:
      return takesFence(reader.load(frame).u8(2)) ? 'destructive' : null;
    case MSG.MISSION_COUNT: {
      const payload = reader.load(frame);
      return payload.u16(0) === 0 && takesFence(payload.u8(4)) ? 'destructive' : null;
    }
    default:
      return null;
  }
}

function scopeOfCommand(payload: Payload): Scope | null {
  const command = payload.u16(COMMAND_AT);
  if (DESTRUCTIVE.has(command)) return 'destructive';
  if (command === COMPONENT_ARM_DISARM) return payload.f32(4) === FORCED ? 'destructive' : null;
  return GUARDED_COMMANDS.get(command) ?? null;
}

function takesFence(type: number): boolean {
  return type === FENCE || type === ALL_TYPES;
}
