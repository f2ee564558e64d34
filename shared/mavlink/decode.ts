/**
 * Typed decode of the messages whose values svc needs, as they are on the wire: integers in MAVLink's units, MAVLink's
 * sentinels for "unknown" left in. The user of a value converts it to SI units and null (front/link/vehicle/telemetry.ts).
 * Offsets follow the wire order of each message; `test/property/mavlink-decode.spec.ts` compares them with node-mavlink.
 */
import type { Payload } from './payload.ts';

export interface Heartbeat {
  /** Its meaning depends on the firmware: shared/flight/modes.ts. */
  readonly customMode: number;
  /** MAV_TYPE */
  readonly type: number;
  /** MAV_AUTOPILOT */
  readonly autopilot: number;
  /** MAV_MODE_FLAG bits; 128 is armed. */
  readonly baseMode: number;
  /** MAV_STATE */
  readonly systemStatus: number;
}

export function decodeHeartbeat(payload: Payload): Heartbeat {
  return {
    customMode: payload.u32(0),
    type: payload.u8(4),
    autopilot: payload.u8(5),
    baseMode: payload.u8(6),
    systemStatus: payload.u8(7),
  };
}

/** rad */
export interface Attitude {
  readonly timeBootMs: number;
  readonly roll: number;
  readonly pitch: number;
  readonly yaw: number;
}

export function decodeAttitude(payload: Payload): Attitude {
  return {
    timeBootMs: payload.u32(0),
    roll: payload.f32(4),
    pitch: payload.f32(8),
    yaw: payload.f32(12),
  };
}

/** degE7, mm, cm/s, cdeg (65535 unknown) */
export interface GlobalPosition {
  readonly timeBootMs: number;
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
  readonly relativeAlt: number;
  readonly vx: number;
  readonly vy: number;
  readonly vz: number;
  readonly hdg: number;
}

export function decodeGlobalPosition(payload: Payload): GlobalPosition {
  return {
    timeBootMs: payload.u32(0),
    lat: payload.i32(4),
    lon: payload.i32(8),
    alt: payload.i32(12),
    relativeAlt: payload.i32(16),
    vx: payload.i16(20),
    vy: payload.i16(22),
    vz: payload.i16(24),
    hdg: payload.u16(26),
  };
}

/** eph, epv: dilution of precision times 100, 65535 unknown; satellites 255 unknown */
export interface GpsRaw {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
  readonly eph: number;
  readonly epv: number;
  readonly fixType: number;
  readonly satellites: number;
}

export function decodeGpsRaw(payload: Payload): GpsRaw {
  return {
    lat: payload.i32(8),
    lon: payload.i32(12),
    alt: payload.i32(16),
    eph: payload.u16(20),
    epv: payload.u16(22),
    fixType: payload.u8(28),
    satellites: payload.u8(29),
  };
}

/** mV (65535 unknown), cA (-1 unknown), percent (-1 unknown) */
export interface SysStatus {
  /** MAV_SYS_STATUS_SENSOR bits: what is there, what is in use, what works. */
  readonly present: number;
  readonly enabled: number;
  readonly health: number;
  readonly voltage: number;
  readonly current: number;
  readonly remaining: number;
}

export function decodeSysStatus(payload: Payload): SysStatus {
  return {
    present: payload.u32(0),
    enabled: payload.u32(4),
    health: payload.u32(8),
    voltage: payload.u16(14),
    current: payload.i16(16),
    remaining: payload.i8(30),
  };
}

const CELLS = 10;
const CELLS_EXT = 4;

/** temperature cdegC (32767 unknown); cells mV (65535 unused; 65534 means "more, in the next"); cellsExt mV (0 unused) */
export interface BatteryStatus {
  readonly id: number;
  readonly temperature: number;
  readonly cells: readonly number[];
  readonly cellsExt: readonly number[];
  readonly current: number;
  readonly remaining: number;
  /** mAh; -1 unknown. */
  readonly consumed: number;
  /** MAV_BATTERY_CHARGE_STATE; an older autopilot sends none, which reads as 0, unknown. */
  readonly chargeState: number;
  /** MAV_BATTERY_FUNCTION */
  readonly function: number;
}

export function decodeBatteryStatus(payload: Payload): BatteryStatus {
  const cells: number[] = [];
  const cellsExt: number[] = [];
  for (let cell = 0; cell < CELLS; cell++) cells.push(payload.u16(10 + 2 * cell));
  for (let cell = 0; cell < CELLS_EXT; cell++) cellsExt.push(payload.u16(41 + 2 * cell));
  return {
    id: payload.u8(32),
    temperature: payload.i16(8),
    cells,
    cellsExt,
    current: payload.i16(30),
    remaining: payload.i8(35),
    consumed: payload.i32(0),
    chargeState: payload.u8(40),
    function: payload.u8(33),
  };
}

/** m/s, m, deg, percent */
export interface VfrHud {
  readonly airspeed: number;
  readonly groundspeed: number;
  readonly alt: number;
  readonly climb: number;
  readonly heading: number;
  readonly throttle: number;
}

export function decodeVfrHud(payload: Payload): VfrHud {
  return {
    airspeed: payload.f32(0),
    groundspeed: payload.f32(4),
    alt: payload.f32(8),
    climb: payload.f32(12),
    heading: payload.i16(16),
    throttle: payload.u16(18),
  };
}

const CHANNELS = 18;

/** us (65535 unused); rssi 0..254, 255 unknown */
export interface RcChannels {
  readonly timeBootMs: number;
  readonly channels: readonly number[];
  /** How many of the 18 the receiver has. */
  readonly count: number;
  readonly rssi: number;
}

export function decodeRcChannels(payload: Payload): RcChannels {
  const channels: number[] = [];
  for (let channel = 0; channel < CHANNELS; channel++) channels.push(payload.u16(4 + 2 * channel));
  return { timeBootMs: payload.u32(0), channels, count: payload.u8(40), rssi: payload.u8(41) };
}

/** degE7, mm above mean sea level */
export interface HomePosition {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
}

export function decodeHomePosition(payload: Payload): HomePosition {
  return { lat: payload.i32(0), lon: payload.i32(4), alt: payload.i32(8) };
}

const STATUSTEXT_CHARS = 50;

export interface StatusTextPart {
  /** MAV_SEVERITY: 0 emergency .. 7 debug */
  readonly severity: number;
  /** UTF-8, without the zeros behind it; a character may be cut in two by the end of a part. */
  readonly bytes: Buffer;
  /** 0: the text is complete. Otherwise the number of a text sent in parts of 50 characters. */
  readonly id: number;
  readonly part: number;
  /** The last part: it contains a NUL. */
  readonly final: boolean;
}

export function decodeStatusText(payload: Payload): StatusTextPart {
  const chars = payload.copy(1, STATUSTEXT_CHARS);
  const end = chars.indexOf(0);
  return {
    severity: payload.u8(0),
    bytes: end < 0 ? chars : chars.subarray(0, end),
    id: payload.u16(51),
    part: payload.u8(53),
    final: payload.u8(STATUSTEXT_CHARS) === 0,
  };
}

export interface CommandAck {
  readonly command: number;
  /** MAV_RESULT */
  readonly result: number;
  /** 0 when the vehicle does not fill it in (v1, old firmware). */
  readonly targetSystem: number;
  readonly targetComponent: number;
}

export function decodeCommandAck(payload: Payload): CommandAck {
  return {
    command: payload.u16(0),
    result: payload.u8(2),
    targetSystem: payload.u8(8),
    targetComponent: payload.u8(9),
  };
}

export interface ParamValue {
  readonly name: string;
  /** The 32 bits as they are: a float, or an integer of `type` stored bytewise (front/link/params/params.ts decides). */
  readonly bits: number;
  /** MAV_PARAM_TYPE */
  readonly type: number;
  readonly count: number;
  /** 65535: not part of a list. */
  readonly index: number;
}

export function decodeParamValue(payload: Payload): ParamValue {
  return {
    name: payload.text(8, 16),
    bits: payload.u32(0),
    type: payload.u8(24),
    count: payload.u16(4),
    index: payload.u16(6),
  };
}

export interface AutopilotVersion {
  /** Low 32 bits of MAV_PROTOCOL_CAPABILITY. */
  readonly capabilities: number;
  /** major << 24 | minor << 16 | patch << 8 | FIRMWARE_VERSION_TYPE */
  readonly flightSwVersion: number;
  /** `4.5.7`; null if the vehicle sends zero. */
  readonly text: string | null;
  /** The id of the board, hex: uid2 if it has one, else uid; null if it has neither. */
  readonly uid: string | null;
}

export function decodeAutopilotVersion(payload: Payload): AutopilotVersion {
  const uid2 = payload.hex(60, 18);
  const uid = payload.hex(8, 8);
  const named = [uid2, uid].find((text) => !/^0*$/.test(text));
  return {
    capabilities: payload.u32(0),
    flightSwVersion: payload.u32(16),
    text: versionText(payload.u32(16)),
    uid: named ?? null,
  };
}

/** @param version major, minor, patch and type, a byte each */
function versionText(version: number): string | null {
  return version === 0 ? null : [version >>> 24, (version >>> 16) & 0xff, (version >>> 8) & 0xff].join('.');
}

/** FILE_TRANSFER_PROTOCOL with its payload taken apart (mavlink.io/en/services/ftp.html). */
export interface FtpMessage {
  readonly targetSystem: number;
  readonly targetComponent: number;
  readonly seq: number;
  readonly session: number;
  readonly opcode: number;
  readonly reqOpcode: number;
  readonly burstComplete: boolean;
  readonly offset: number;
  /** A copy. */
  readonly data: Buffer;
}

const FTP_AT = 3;
const FTP_MAX_DATA = 239;

export function decodeFtp(payload: Payload): FtpMessage {
  return {
    targetSystem: payload.u8(1),
    targetComponent: payload.u8(2),
    seq: payload.u16(FTP_AT),
    session: payload.u8(FTP_AT + 2),
    opcode: payload.u8(FTP_AT + 3),
    reqOpcode: payload.u8(FTP_AT + 5),
    burstComplete: payload.u8(FTP_AT + 6) === 1,
    offset: payload.u32(FTP_AT + 8),
    data: payload.copy(FTP_AT + 12, Math.min(FTP_MAX_DATA, payload.u8(FTP_AT + 4))),
  };
}

/** Milliseconds since the vehicle booted, of SYSTEM_TIME. */
export function decodeSystemTimeBootMs(payload: Payload): number {
  return payload.u32(8);
}

/** The field in RAW_IMU (common), by axis; ArduPilot sends mGauss. */
export function decodeRawField(payload: Payload): readonly number[] {
  return [payload.i16(20), payload.i16(22), payload.i16(24)];
}
