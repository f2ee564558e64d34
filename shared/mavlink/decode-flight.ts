/**
 * Typed decode of the messages about estimator, mission and landed state, with values as on the wire, like `decode.ts`. Offsets
 * follow the wire order of each message.
 */
import type { Payload } from './payload.ts';

/** The estimator of both firmwares in one type. A missing ratio is NaN or 0, as received. */
export interface Estimator {
  /** EKF_STATUS_FLAGS of ArduPilot, ESTIMATOR_STATUS_FLAGS of PX4; bits 0 to 9 mean the same. */
  readonly flags: number;
  readonly velocity: number;
  readonly posHoriz: number;
  readonly posVert: number;
  readonly compass: number;
  readonly terrain: number;
  readonly airspeed: number;
}

/** EKF_STATUS_REPORT (ardupilotmega): "variances", which are square roots of innovation test ratios. */
export function decodeEkfStatus(payload: Payload): Estimator {
  return {
    flags: payload.u16(20),
    velocity: payload.f32(0),
    posHoriz: payload.f32(4),
    posVert: payload.f32(8),
    compass: payload.f32(12),
    terrain: payload.f32(16),
    airspeed: payload.f32(22),
  };
}

/** ESTIMATOR_STATUS (common): innovation test ratios; a measurement above 1 is rejected. */
export function decodeEstimatorStatus(payload: Payload): Estimator {
  return {
    flags: payload.u16(40),
    velocity: payload.f32(8),
    posHoriz: payload.f32(12),
    posVert: payload.f32(16),
    compass: payload.f32(20),
    terrain: payload.f32(24),
    airspeed: payload.f32(28),
  };
}

export interface MissionCurrent {
  /** The item under way, or the one that AUTO would fly next. */
  readonly seq: number;
  /** Extension: 0 unknown, 65535 no mission. */
  readonly total: number;
  /** Extension, MISSION_STATE: 0 unknown. */
  readonly state: number;
  /** Extension, the vehicle's own id of the mission; 0 unknown. */
  readonly id: number;
}

export function decodeMissionCurrent(payload: Payload): MissionCurrent {
  return { seq: payload.u16(0), total: payload.u16(2), state: payload.u8(4), id: payload.u32(6) };
}

/** Sequence number of the item that was reached, of MISSION_ITEM_REACHED. */
export function decodeMissionItemReached(payload: Payload): number {
  return payload.u16(0);
}

/** MAV_LANDED_STATE, of EXTENDED_SYS_STATE. */
export function decodeLandedState(payload: Payload): number {
  return payload.u8(1);
}

/** EVENT (common): an event whose text is in metadata. */
export interface VehicleEvent {
  /** Component in the upper 8 bits, the event's own number in the others. */
  readonly id: number;
  readonly sequence: number;
  /** As MAV_SEVERITY; 8 is not to be shown, 9 switched off. */
  readonly level: number;
  /** 40 bytes, zeros after the last argument. */
  readonly args: Buffer;
}

export function decodeEvent(payload: Payload): VehicleEvent {
  return {
    id: payload.u32(0),
    sequence: payload.u16(8),
    level: payload.u8(12) & 0x0f,
    args: payload.copy(13, 40),
  };
}

/** Of CURRENT_EVENT_SEQUENCE. */
export function decodeEventSequence(payload: Payload): number {
  return payload.u16(0);
}

/** The URI of the table of contents in COMPONENT_METADATA. */
export function decodeMetadataUri(payload: Payload): string {
  return payload.text(8, 100);
}

/** WIND (ardupilotmega). */
export interface Wind {
  /** Degrees that it comes from, -180..180. */
  readonly direction: number;
  /** m/s */
  readonly speed: number;
}

export function decodeWind(payload: Payload): Wind {
  return { direction: payload.f32(0), speed: payload.f32(4) };
}

/** WIND_COV (common): where the air moves to, m/s north and east; NaN: not known. */
export interface WindCov {
  readonly north: number;
  readonly east: number;
}

export function decodeWindCov(payload: Payload): WindCov {
  return { north: payload.f32(8), east: payload.f32(12) };
}
