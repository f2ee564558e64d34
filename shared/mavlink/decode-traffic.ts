/**
 * Typed decode of the messages about other aircraft and about the fence, with values as on the wire, like `decode.ts`. Offsets
 * follow the wire order of each message.
 */
import type { Payload } from './payload.ts';

/** ADSB_VEHICLE (common): another aircraft, as a receiver on board hears it. */
export interface AdsbVehicle {
  readonly icao: number;
  /** degE7; valid with ADSB_FLAGS bit 0 */
  readonly lat: number;
  readonly lon: number;
  /** mm */
  readonly altitude: number;
  /** cdeg */
  readonly heading: number;
  /** cm/s */
  readonly horizontalSpeed: number;
  /** cm/s, positive up */
  readonly verticalSpeed: number;
  /** ADSB_FLAGS: which of the others are valid. */
  readonly flags: number;
  readonly squawk: number;
  /** ADSB_ALTITUDE_TYPE: 0 by pressure, 1 by GNSS */
  readonly altitudeType: number;
  readonly callsign: string;
  /** ADSB_EMITTER_TYPE, 0: not said */
  readonly emitter: number;
  /** Seconds since the receiver heard it. */
  readonly silentS: number;
}

export function decodeAdsbVehicle(payload: Payload): AdsbVehicle {
  return {
    icao: payload.u32(0),
    lat: payload.i32(4),
    lon: payload.i32(8),
    altitude: payload.i32(12),
    heading: payload.u16(16),
    horizontalSpeed: payload.u16(18),
    verticalSpeed: payload.i16(20),
    flags: payload.u16(22),
    squawk: payload.u16(24),
    altitudeType: payload.u8(26),
    callsign: payload.text(27, 9),
    emitter: payload.u8(36),
    silentS: payload.u8(37),
  };
}

/** COLLISION (common): what the autopilot thinks of the aircraft that is most of a threat. */
export interface Collision {
  /** ICAO address, or system id, by `source`. */
  readonly id: number;
  /** s */
  readonly time: number;
  /** Metres between the two at the closest, in height and over ground. */
  readonly vertical: number;
  readonly horizontal: number;
  /** MAV_COLLISION_SRC */
  readonly source: number;
  /** MAV_COLLISION_ACTION */
  readonly action: number;
  /** MAV_COLLISION_THREAT_LEVEL */
  readonly level: number;
}

export function decodeCollision(payload: Payload): Collision {
  return {
    id: payload.u32(0),
    time: payload.f32(4),
    vertical: payload.f32(8),
    horizontal: payload.f32(12),
    source: payload.u8(16),
    action: payload.u8(17),
    level: payload.u8(18),
  };
}

/** FENCE_STATUS (common). */
export interface FenceStatus {
  /** Breaches since boot. */
  readonly count: number;
  /** 0: inside; else outside. */
  readonly status: number;
  /** FENCE_BREACH */
  readonly type: number;
}

export function decodeFenceStatus(payload: Payload): FenceStatus {
  return { count: payload.u16(4), status: payload.u8(6), type: payload.u8(7) };
}
