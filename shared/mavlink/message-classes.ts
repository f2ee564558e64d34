import {
  type Classed,
  type CommandParams,
  classOfCommand,
  classOfItem,
  FLIGHT,
  KEYONLY,
} from './command-classes.ts';
import type { Frame } from './frame.ts';
import { MSG } from './messages.ts';
import { classOfParam, type ParamClass } from './param-classes.ts';
import type { Payload } from './payload.ts';

/**
 * What a frame to the vehicle does, in the classes of commands: the messages that have the effect of a command, a parameter or a
 * mission item have its class. What is harmless is listed; a message that is not listed is `keyonly` for who has scopes, and passes
 * for a ground station, which sends what we do not know yet.
 */
interface ClassedFrame extends Classed {
  /** Takes part in flying: the business of the pilot in command alone. */
  readonly flies: boolean;
}

/** Offset of `command` in COMMAND_LONG and COMMAND_INT; the parameters are in front. */
export const COMMAND_AT = 28;
/** Offset of `payload` in FILE_TRANSFER_PROTOCOL, and of the opcode in it. */
export const FTP_AT = 3;
const FTP_OPCODE_AT = FTP_AT + 3;
/**
 * The opcodes of MAVLink FTP that change nothing: None, TerminateSession, ResetSessions, ListDirectory, OpenFileRO, ReadFile,
 * CalcFileCRC32, BurstReadFile, ACK, NAK (mavlink.io, File Transfer Protocol). Every other one counts as a write: `@PARAM` is
 * written through them, whichever parameters it names, and files and directories are removed.
 */
const FTP_READS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 14, 15, 128, 129]);

const SET_MODE = 11;
const PARAM_EXT_SET = 323;

/** Asks, answers, or tells of the sender. */
const READS: ReadonlySet<number> = new Set<number>([
  MSG.HEARTBEAT,
  MSG.SYS_STATUS,
  MSG.SYSTEM_TIME,
  4, // PING
  MSG.PARAM_REQUEST_READ,
  MSG.PARAM_REQUEST_LIST,
  MSG.MISSION_REQUEST,
  MSG.MISSION_REQUEST_LIST,
  MSG.MISSION_ACK,
  MSG.MISSION_REQUEST_INT,
  MSG.REQUEST_DATA_STREAM,
  MSG.COMMAND_ACK,
  109, // RADIO_STATUS
  111, // TIMESYNC
  MSG.LOG_REQUEST_LIST,
  MSG.LOG_REQUEST_DATA,
  MSG.LOG_REQUEST_END,
  135, // TERRAIN_CHECK
  161, // FENCE_FETCH_POINT
  176, // RALLY_FETCH_POINT
  183, // AUTOPILOT_VERSION_REQUEST
  184, // REMOTE_LOG_DATA_BLOCK
  185, // REMOTE_LOG_BLOCK_STATUS
  MSG.STATUSTEXT,
  300, // PROTOCOL_VERSION
  320, // PARAM_EXT_REQUEST_READ
  321, // PARAM_EXT_REQUEST_LIST
  390, // ONBOARD_COMPUTER_STATUS
  MSG.REQUEST_EVENT,
]);

/** What the vehicle is told of the world, and what is set on its payload: whoever may fly, the pilot in command or not. */
const FEEDS: ReadonlySet<number> = new Set<number>([
  101, // GLOBAL_VISION_POSITION_ESTIMATE
  102, // VISION_POSITION_ESTIMATE
  103, // VISION_SPEED_ESTIMATE
  104, // VICON_POSITION_ESTIMATE
  106, // OPTICAL_FLOW_RAD
  123, // GPS_INJECT_DATA
  132, // DISTANCE_SENSOR
  134, // TERRAIN_DATA
  138, // ATT_POS_MOCAP
  144, // FOLLOW_TARGET
  149, // LANDING_TARGET
  154, // DIGICAM_CONFIGURE
  155, // DIGICAM_CONTROL
  156, // MOUNT_CONFIGURE
  157, // MOUNT_CONTROL
  186, // LED_CONTROL
  218, // GOPRO_SET_REQUEST
  232, // GPS_INPUT
  MSG.GPS_RTCM_DATA,
  MSG.ADSB_VEHICLE,
  258, // PLAY_TUNE
  282, // GIMBAL_MANAGER_SET_ATTITUDE
  284, // GIMBAL_DEVICE_SET_ATTITUDE
  287, // GIMBAL_MANAGER_SET_PITCHYAW
  288, // GIMBAL_MANAGER_SET_MANUAL_CONTROL
  330, // OBSTACLE_DISTANCE
  331, // ODOMETRY
  335, // ISBD_LINK_STATUS
  400, // PLAY_TUNE_V2
  12_919, // OPEN_DRONE_ID_SYSTEM_UPDATE: where the operator stands, for whoever may fly
]);

const FLIES: ReadonlySet<number> = new Set<number>([
  5, // CHANGE_OPERATOR_CONTROL
  41, // MISSION_SET_CURRENT
  48, // SET_GPS_GLOBAL_ORIGIN
  69, // MANUAL_CONTROL
  70, // RC_CHANNELS_OVERRIDE
  80, // COMMAND_CANCEL
  82, // SET_ATTITUDE_TARGET
  MSG.SET_POSITION_TARGET_LOCAL_NED,
  MSG.SET_POSITION_TARGET_GLOBAL_INT,
  139, // SET_ACTUATOR_CONTROL_TARGET
  175, // RALLY_POINT
  243, // SET_HOME_POSITION
]);

/** Changed by it: what the vehicle is, what it believes of itself, what is behind its ports. */
const KEEPERS: ReadonlySet<number> = new Set<number>([
  50, // PARAM_MAP_RC: a stick writes whichever parameter
  90, // HIL_STATE
  92, // HIL_RC_INPUTS_RAW
  93, // HIL_ACTUATOR_CONTROLS
  107, // HIL_SENSOR
  113, // HIL_GPS
  114, // HIL_OPTICAL_FLOW
  115, // HIL_STATE_QUATERNION
  MSG.SERIAL_CONTROL, // a shell behind it writes parameters and reboots
  386, // CAN_FRAME
  387, // CANFD_FRAME
  388, // CAN_FILTER_MODIFY
  11_002, // DEVICE_OP_WRITE
]);

/** Say by law who flies (Remote ID), which is for the pairing key alone (`remote_id.*`); the vehicle decides when. */
const REMOTE_ID: ReadonlySet<number> = new Set<number>([
  MSG.OPEN_DRONE_ID_BASIC_ID,
  MSG.OPEN_DRONE_ID_AUTHENTICATION,
  MSG.OPEN_DRONE_ID_SELF_ID,
  MSG.OPEN_DRONE_ID_SYSTEM,
  MSG.OPEN_DRONE_ID_OPERATOR_ID,
  MSG.OPEN_DRONE_ID_MESSAGE_PACK,
]);

const frame = (classed: Omit<Classed, 'ends'>, flies: boolean): ClassedFrame => ({
  ...classed,
  ends: false,
  flies,
});
const READ = frame({ classes: ['read'], guarded: false }, false);
const FEED = frame(FLIGHT, false);
const FLYING = frame(FLIGHT, true);
const KEPT = frame(KEYONLY, true);
/** For who has scopes alone: a ground station may send it. */
const UNLISTED = frame({ classes: ['keyonly'], guarded: false }, false);
const SETUP = frame({ classes: ['setup'], guarded: true }, true);
const WIPES = frame({ classes: ['destructive'], guarded: true }, true);
const UNFENCES = frame({ classes: ['flight', 'destructive'], guarded: false }, true);

/** A parameter is set up while disarmed, and each class of parameters needs more than that. */
const BY_PARAM: Readonly<Record<ParamClass, ClassedFrame>> = {
  harmless: SETUP,
  flight: frame({ classes: ['setup', 'flight'], guarded: true }, true),
  'safety-net': frame({ classes: ['setup', 'flight', 'destructive'], guarded: true }, true),
  keyonly: KEPT,
};

/** MAV_MISSION_TYPE */
const FENCE = 1;
const ALL_TYPES = 255;

/** @param reader is loaded with the frame, if its contents count */
export function classOfFrame(what: Frame, reader: Payload): ClassedFrame {
  const { id } = what;
  if (READS.has(id)) return READ;
  if (FEEDS.has(id)) return FEED;
  if (FLIES.has(id)) return FLYING;
  if (KEEPERS.has(id)) return KEPT;
  if (REMOTE_ID.has(id)) return UNLISTED;
  switch (id) {
    case SET_MODE:
      return FLYING;
    case MSG.COMMAND_LONG:
    case MSG.COMMAND_INT:
      return commandFrame(reader.load(what));
    case MSG.MISSION_ITEM:
    case MSG.MISSION_ITEM_INT:
      return itemFrame(reader.load(what));
    case MSG.MISSION_COUNT:
      return listFrame(reader.load(what).u8(4));
    case MSG.MISSION_CLEAR_ALL:
      return listFrame(reader.load(what).u8(2));
    case MSG.MISSION_WRITE_PARTIAL_LIST:
      return listFrame(reader.load(what).u8(6));
    case 160: // FENCE_POINT
      return UNFENCES;
    case MSG.PARAM_SET:
      return BY_PARAM[classOfParam(reader.load(what).text(6, 16)).class];
    case PARAM_EXT_SET:
      return BY_PARAM[classOfParam(reader.load(what).text(2, 16)).class];
    case MSG.FILE_TRANSFER_PROTOCOL:
      return FTP_READS.has(reader.load(what).u8(FTP_OPCODE_AT)) ? READ : KEPT;
    case MSG.SETUP_SIGNING:
    case MSG.LOG_ERASE:
      return WIPES;
    case 151: // SET_MAG_OFFSETS
      return SETUP;
    default:
      return UNLISTED;
  }
}

function commandFrame(payload: Payload): ClassedFrame {
  return flown(classOfCommand(payload.u16(COMMAND_AT), paramsOf(payload)));
}

/** Offset of `command` in MISSION_ITEM and MISSION_ITEM_INT. */
export const ITEM_COMMAND_AT = 30;

function itemFrame(payload: Payload): ClassedFrame {
  // The mission is flown later: what is guarded on the wire is the command that comes now.
  return { ...flown(classOfItem(payload.u16(ITEM_COMMAND_AT), paramsOf(payload))), guarded: false };
}

function flown(classed: Classed): ClassedFrame {
  return { ...classed, flies: !classed.classes.includes('read') && !classed.ends };
}

function paramsOf(payload: Payload): CommandParams {
  return [payload.f32(0), payload.f32(4), payload.f32(8), payload.f32(12)];
}

/** A list of the fence that begins, or goes: by its frames nobody can tell whether the new one is larger. */
function listFrame(missionType: number): ClassedFrame {
  return missionType === FENCE || missionType === ALL_TYPES ? UNFENCES : FLYING;
}
