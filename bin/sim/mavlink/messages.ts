/**
 * The MAVLink messages that the simulator speaks. Only the types come from `mavlink-mappings`: loading its dialects
 * costs more than 12 MB, in a process that must stay small. `test/sim/wire.spec.ts` holds every line against the library.
 */
import type * as ardupilotmega from 'mavlink-mappings/dist/lib/ardupilotmega.js';
import type * as common from 'mavlink-mappings/dist/lib/common.js';
import type * as minimal from 'mavlink-mappings/dist/lib/minimal.js';
import type * as standard from 'mavlink-mappings/dist/lib/standard.js';

/** One field: kind and bits as in `u16`, `i8`, `f32`, `c8` (text). `length` is 0 for what is no array. */
export interface Field {
  readonly name: string;
  readonly kind: 'u' | 'i' | 'f' | 'c';
  readonly size: number;
  readonly offset: number;
  readonly length: number;
}

/** The layout of a message. `T`, the library's class, only names its fields. */
export interface MessageType<T extends object> {
  readonly MSG_NAME: string;
  readonly MSG_ID: number;
  /** CRC_EXTRA. */
  readonly MAGIC_NUMBER: number;
  readonly PAYLOAD_LENGTH: number;
  readonly FIELDS: readonly Field[];
  /** Never there at run time; it ties the layout to its type. */
  readonly of?: T;
}

export const Heartbeat = message<minimal.Heartbeat>(
  'HEARTBEAT 0 50',
  'customMode:u32 type:u8 autopilot:u8 baseMode:u8 systemStatus:u8 mavlinkVersion:u8',
);
export const SysStatus = message<common.SysStatus>(
  'SYS_STATUS 1 124',
  'onboardControlSensorsPresent:u32 onboardControlSensorsEnabled:u32 onboardControlSensorsHealth:u32 ' +
    'load:u16 voltageBattery:u16 currentBattery:i16 dropRateComm:u16 errorsComm:u16 errorsCount1:u16 ' +
    'errorsCount2:u16 errorsCount3:u16 errorsCount4:u16 batteryRemaining:i8 ' +
    'onboardControlSensorsPresentExtended:u32 onboardControlSensorsEnabledExtended:u32 ' +
    'onboardControlSensorsHealthExtended:u32',
);
export const SystemTime = message<common.SystemTime>('SYSTEM_TIME 2 137', 'timeUnixUsec:u64 timeBootMs:u32');
export const ManualControl = message<common.ManualControl>(
  'MANUAL_CONTROL 69 243',
  'x:i16 y:i16 z:i16 r:i16 buttons:u16 target:u8 ' +
    'buttons2:u16 enabledExtensions:u8 s:i16 t:i16 aux1:i16 aux2:i16 aux3:i16 aux4:i16 aux5:i16 aux6:i16',
);
export const SetMode = message<common.SetMode>(
  'SET_MODE 11 89',
  'customMode:u32 targetSystem:u8 baseMode:u8',
);
export const ParamRequestRead = message<common.ParamRequestRead>(
  'PARAM_REQUEST_READ 20 214',
  'paramIndex:i16 targetSystem:u8 targetComponent:u8 paramId:c8[16]',
);
export const ParamRequestList = message<common.ParamRequestList>(
  'PARAM_REQUEST_LIST 21 159',
  'targetSystem:u8 targetComponent:u8',
);
export const ParamValue = message<common.ParamValue>(
  'PARAM_VALUE 22 220',
  'paramValue:f32 paramCount:u16 paramIndex:u16 paramId:c8[16] paramType:u8',
);
/** Newer than the library. */
interface ParamErrorFields {
  readonly paramIndex: number;
  readonly targetSystem: number;
  readonly targetComponent: number;
  readonly paramId: string;
  readonly error: number;
}
export const ParamError = message<ParamErrorFields>(
  'PARAM_ERROR 345 209',
  'paramIndex:i16 targetSystem:u8 targetComponent:u8 paramId:c8[16] error:u8',
);
export const ParamSet = message<common.ParamSet>(
  'PARAM_SET 23 168',
  'paramValue:f32 targetSystem:u8 targetComponent:u8 paramId:c8[16] paramType:u8',
);
export const GpsRawInt = message<common.GpsRawInt>(
  'GPS_RAW_INT 24 24',
  'timeUsec:u64 lat:i32 lon:i32 alt:i32 eph:u16 epv:u16 vel:u16 cog:u16 fixType:u8 ' +
    'satellitesVisible:u8 altEllipsoid:i32 hAcc:u32 vAcc:u32 velAcc:u32 hdgAcc:u32 yaw:u16',
);
export const Attitude = message<common.Attitude>(
  'ATTITUDE 30 39',
  'timeBootMs:u32 roll:f32 pitch:f32 yaw:f32 rollspeed:f32 pitchspeed:f32 yawspeed:f32',
);
export const LocalPositionNed = message<common.LocalPositionNed>(
  'LOCAL_POSITION_NED 32 185',
  'timeBootMs:u32 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32',
);
export const GlobalPositionInt = message<common.GlobalPositionInt>(
  'GLOBAL_POSITION_INT 33 104',
  'timeBootMs:u32 lat:i32 lon:i32 alt:i32 relativeAlt:i32 vx:i16 vy:i16 vz:i16 hdg:u16',
);
export const ServoOutputRaw = message<common.ServoOutputRaw>(
  'SERVO_OUTPUT_RAW 36 222',
  'timeUsec:u32 servo1Raw:u16 servo2Raw:u16 servo3Raw:u16 servo4Raw:u16 servo5Raw:u16 servo6Raw:u16 ' +
    'servo7Raw:u16 servo8Raw:u16 port:u8 servo9Raw:u16 servo10Raw:u16 servo11Raw:u16 servo12Raw:u16 ' +
    'servo13Raw:u16 servo14Raw:u16 servo15Raw:u16 servo16Raw:u16',
);
export const MissionRequest = message<common.MissionRequest>(
  'MISSION_REQUEST 40 230',
  'seq:u16 targetSystem:u8 targetComponent:u8 missionType:u8',
);
export const MissionSetCurrent = message<common.MissionSetCurrent>(
  'MISSION_SET_CURRENT 41 28',
  'seq:u16 targetSystem:u8 targetComponent:u8',
);
export const MissionCurrent = message<common.MissionCurrent>(
  'MISSION_CURRENT 42 28',
  'seq:u16 total:u16 missionState:u8 missionMode:u8 missionId:u32 fenceId:u32 rallyPointsId:u32',
);
export const MissionRequestList = message<common.MissionRequestList>(
  'MISSION_REQUEST_LIST 43 132',
  'targetSystem:u8 targetComponent:u8 missionType:u8',
);
export const MissionCount = message<common.MissionCount>(
  'MISSION_COUNT 44 221',
  'count:u16 targetSystem:u8 targetComponent:u8 missionType:u8 opaqueId:u32',
);
export const MissionClearAll = message<common.MissionClearAll>(
  'MISSION_CLEAR_ALL 45 232',
  'targetSystem:u8 targetComponent:u8 missionType:u8',
);
export const MissionItemReached = message<common.MissionItemReached>('MISSION_ITEM_REACHED 46 11', 'seq:u16');
export const MissionAck = message<common.MissionAck>(
  'MISSION_ACK 47 153',
  'targetSystem:u8 targetComponent:u8 type:u8 missionType:u8 opaqueId:u32',
);
export const MissionRequestInt = message<common.MissionRequestInt>(
  'MISSION_REQUEST_INT 51 196',
  'seq:u16 targetSystem:u8 targetComponent:u8 missionType:u8',
);
export const RcChannels = message<common.RcChannels>(
  'RC_CHANNELS 65 118',
  'timeBootMs:u32 chan1Raw:u16 chan2Raw:u16 chan3Raw:u16 chan4Raw:u16 chan5Raw:u16 chan6Raw:u16 ' +
    'chan7Raw:u16 chan8Raw:u16 chan9Raw:u16 chan10Raw:u16 chan11Raw:u16 chan12Raw:u16 chan13Raw:u16 ' +
    'chan14Raw:u16 chan15Raw:u16 chan16Raw:u16 chan17Raw:u16 chan18Raw:u16 chancount:u8 rssi:u8',
);
export const RequestDataStream = message<common.RequestDataStream>(
  'REQUEST_DATA_STREAM 66 148',
  'reqMessageRate:u16 targetSystem:u8 targetComponent:u8 reqStreamId:u8 startStop:u8',
);
export type MissionItemInt = common.MissionItemInt;
export const MissionItemInt = message<common.MissionItemInt>(
  'MISSION_ITEM_INT 73 38',
  'param1:f32 param2:f32 param3:f32 param4:f32 x:i32 y:i32 z:f32 seq:u16 command:u16 targetSystem:u8 ' +
    'targetComponent:u8 frame:u8 current:u8 autocontinue:u8 missionType:u8',
);
export const VfrHud = message<common.VfrHud>(
  'VFR_HUD 74 20',
  'airspeed:f32 groundspeed:f32 alt:f32 climb:f32 heading:i16 throttle:u16',
);
export type CommandInt = common.CommandInt;
export const CommandInt = message<common.CommandInt>(
  'COMMAND_INT 75 158',
  '_param1:f32 _param2:f32 _param3:f32 _param4:f32 _param5:i32 _param6:i32 _param7:f32 command:u16 ' +
    'targetSystem:u8 targetComponent:u8 frame:u8 current:u8 autocontinue:u8',
);
export type CommandLong = common.CommandLong;
export const CommandLong = message<common.CommandLong>(
  'COMMAND_LONG 76 152',
  '_param1:f32 _param2:f32 _param3:f32 _param4:f32 _param5:f32 _param6:f32 _param7:f32 command:u16 ' +
    'targetSystem:u8 targetComponent:u8 confirmation:u8',
);
export const CommandAck = message<common.CommandAck>(
  'COMMAND_ACK 77 143',
  'command:u16 result:u8 progress:u8 resultParam2:i32 targetSystem:u8 targetComponent:u8',
);
export const FileTransferProtocol = message<common.FileTransferProtocol>(
  'FILE_TRANSFER_PROTOCOL 110 84',
  'targetNetwork:u8 targetSystem:u8 targetComponent:u8 payload:u8[251]',
);
export const Altitude = message<common.Altitude>(
  'ALTITUDE 141 47',
  'timeUsec:u64 altitudeMonotonic:f32 altitudeAmsl:f32 altitudeLocal:f32 altitudeRelative:f32 ' +
    'altitudeTerrain:f32 bottomClearance:f32',
);
export const EstimatorStatus = message<common.EstimatorStatus>(
  'ESTIMATOR_STATUS 230 163',
  'timeUsec:u64 velRatio:f32 posHorizRatio:f32 posVertRatio:f32 magRatio:f32 haglRatio:f32 tasRatio:f32 ' +
    'posHorizAccuracy:f32 posVertAccuracy:f32 flags:u16',
);
export const SetupSigning = message<common.SetupSigning>(
  'SETUP_SIGNING 256 71',
  'initialTimestamp:u64 targetSystem:u8 targetComponent:u8 secretKey:u8[32]',
);
export type SetPositionTargetLocalNed = common.SetPositionTargetLocalNed;
export const SetPositionTargetLocalNed = message<common.SetPositionTargetLocalNed>(
  'SET_POSITION_TARGET_LOCAL_NED 84 143',
  'timeBootMs:u32 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 afx:f32 afy:f32 afz:f32 yaw:f32 ' +
    'yawRate:f32 typeMask:u16 targetSystem:u8 targetComponent:u8 coordinateFrame:u8',
);
export type SetPositionTargetGlobalInt = common.SetPositionTargetGlobalInt;
export const SetPositionTargetGlobalInt = message<common.SetPositionTargetGlobalInt>(
  'SET_POSITION_TARGET_GLOBAL_INT 86 5',
  'timeBootMs:u32 latInt:i32 lonInt:i32 alt:f32 vx:f32 vy:f32 vz:f32 afx:f32 afy:f32 afz:f32 yaw:f32 ' +
    'yawRate:f32 typeMask:u16 targetSystem:u8 targetComponent:u8 coordinateFrame:u8',
);
export const BatteryStatus = message<common.BatteryStatus>(
  'BATTERY_STATUS 147 154',
  'currentConsumed:i32 energyConsumed:i32 temperature:i16 voltages:u16[10] currentBattery:i16 id:u8 ' +
    'batteryFunction:u8 type:u8 batteryRemaining:i8 timeRemaining:i32 chargeState:u8 voltagesExt:u16[4] ' +
    'mode:u8 faultBitmask:u32',
);
export const AutopilotVersion = message<standard.AutopilotVersion>(
  'AUTOPILOT_VERSION 148 178',
  'capabilities:u64 uid:u64 flightSwVersion:u32 middlewareSwVersion:u32 osSwVersion:u32 ' +
    'boardVersion:u32 vendorId:u16 productId:u16 flightCustomVersion:u8[8] ' +
    'middlewareCustomVersion:u8[8] osCustomVersion:u8[8] uid2:u8[18]',
);
export const SimState = message<ardupilotmega.SimState>(
  'SIMSTATE 164 154',
  'roll:f32 pitch:f32 yaw:f32 xacc:f32 yacc:f32 zacc:f32 xgyro:f32 ygyro:f32 zgyro:f32 lat:i32 lng:i32',
);
export const Wind = message<ardupilotmega.Wind>('WIND 168 1', 'direction:f32 speed:f32 speedZ:f32');
export const MagCalProgress = message<ardupilotmega.MagCalProgress>(
  'MAG_CAL_PROGRESS 191 92',
  'directionX:f32 directionY:f32 directionZ:f32 compassId:u8 calMask:u8 calStatus:u8 attempt:u8 ' +
    'completionPct:u8 completionMask:u8[10]',
);
export const MagCalReport = message<common.MagCalReport>(
  'MAG_CAL_REPORT 192 36',
  'fitness:f32 ofsX:f32 ofsY:f32 ofsZ:f32 diagX:f32 diagY:f32 diagZ:f32 offdiagX:f32 offdiagY:f32 ' +
    'offdiagZ:f32 compassId:u8 calMask:u8 calStatus:u8 autosaved:u8 orientationConfidence:f32 ' +
    'oldOrientation:u8 newOrientation:u8 scaleFactor:f32',
);
export const EkfStatusReport = message<ardupilotmega.EkfStatusReport>(
  'EKF_STATUS_REPORT 193 71',
  'velocityVariance:f32 posHorizVariance:f32 posVertVariance:f32 compassVariance:f32 ' +
    'terrainAltVariance:f32 flags:u16 airspeedVariance:f32',
);
export const Vibration = message<common.Vibration>(
  'VIBRATION 241 90',
  'timeUsec:u64 vibrationX:f32 vibrationY:f32 vibrationZ:f32 clipping0:u32 clipping1:u32 clipping2:u32',
);
/** Newer than the library, like the next one. */
interface EscInfoFields {
  readonly timeUsec: bigint;
  readonly errorCount: readonly number[];
  readonly counter: number;
  readonly failureFlags: readonly number[];
  readonly temperature: readonly number[];
  readonly index: number;
  readonly count: number;
  readonly connectionType: number;
  readonly info: number;
}
export const EscInfo = message<EscInfoFields>(
  'ESC_INFO 290 251',
  'timeUsec:u64 errorCount:u32[4] counter:u16 failureFlags:u16[4] temperature:i16[4] index:u8 count:u8 ' +
    'connectionType:u8 info:u8',
);
interface EscStatusFields {
  readonly timeUsec: bigint;
  readonly rpm: readonly number[];
  readonly voltage: readonly number[];
  readonly current: readonly number[];
  readonly index: number;
}
export const EscStatus = message<EscStatusFields>(
  'ESC_STATUS 291 10',
  'timeUsec:u64 rpm:i32[4] voltage:f32[4] current:f32[4] index:u8',
);
export const EscTelemetry1To4 = message<ardupilotmega.EscTelemetry1To4>(
  'ESC_TELEMETRY_1_TO_4 11030 144',
  'voltage:u16[4] current:u16[4] totalcurrent:u16[4] rpm:u16[4] count:u16[4] temperature:u8[4]',
);
export const LogRequestList = message<common.LogRequestList>(
  'LOG_REQUEST_LIST 117 128',
  'start:u16 end:u16 targetSystem:u8 targetComponent:u8',
);
export const LogEntry = message<common.LogEntry>(
  'LOG_ENTRY 118 56',
  'timeUtc:u32 size:u32 id:u16 numLogs:u16 lastLogNum:u16',
);
export const LogRequestData = message<common.LogRequestData>(
  'LOG_REQUEST_DATA 119 116',
  'ofs:u32 count:u32 id:u16 targetSystem:u8 targetComponent:u8',
);
export const LogData = message<common.LogData>('LOG_DATA 120 134', 'ofs:u32 id:u16 count:u8 data:u8[90]');
export const LogErase = message<common.LogErase>('LOG_ERASE 121 237', 'targetSystem:u8 targetComponent:u8');
export const LogRequestEnd = message<common.LogRequestEnd>(
  'LOG_REQUEST_END 122 203',
  'targetSystem:u8 targetComponent:u8',
);
export const HomePosition = message<common.HomePosition>(
  'HOME_POSITION 242 104',
  'latitude:i32 longitude:i32 altitude:i32 x:f32 y:f32 z:f32 q:f32[4] approachX:f32 approachY:f32 ' +
    'approachZ:f32 timeUsec:u64',
);
export const MessageInterval = message<common.MessageInterval>(
  'MESSAGE_INTERVAL 244 95',
  'intervalUs:i32 messageId:u16',
);
export const AdsbVehicle = message<common.AdsbVehicle>(
  'ADSB_VEHICLE 246 184',
  'ICAOAddress:u32 lat:i32 lon:i32 altitude:i32 heading:u16 horVelocity:u16 verVelocity:i16 flags:u16 squawk:u16 ' +
    'altitudeType:u8 callsign:c8[9] emitterType:u8 tslc:u8',
);
export const FenceStatus = message<common.FenceStatus>(
  'FENCE_STATUS 162 189',
  'breachTime:u32 breachCount:u16 breachStatus:u8 breachType:u8 breachMitigation:u8',
);
export const ExtendedSysState = message<common.ExtendedSysState>(
  'EXTENDED_SYS_STATE 245 130',
  'vtolState:u8 landedState:u8',
);
export const StatusText = message<common.StatusText>(
  'STATUSTEXT 253 83',
  'severity:u8 text:c8[50] id:u16 chunkSeq:u8',
);

/** @param head name, id and CRC_EXTRA @param fields in wire order, `name:type` or `name:type[length]` */
function message<T extends object>(head: string, fields: string): MessageType<T> {
  const [MSG_NAME = '', id, extra] = head.split(' ');
  let offset = 0;
  const FIELDS = fields.split(' ').map((text): Field => {
    const match = /^(\w+):([uifc])(\d+)(?:\[(\d+)\])?$/.exec(text);
    if (match === null) throw new Error(`message table: ${text}`);
    const [, name = '', kind, bits, length = '0'] = match;
    const size = Number(bits) / 8;
    const field = { name, kind: kind as Field['kind'], size, offset, length: Number(length) };
    offset += size * Math.max(1, field.length);
    return field;
  });
  return { MSG_NAME, MSG_ID: Number(id), MAGIC_NUMBER: Number(extra), PAYLOAD_LENGTH: offset, FIELDS };
}
