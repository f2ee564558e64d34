/** Typed decode of the messages for links of some bytes a minute, with values as on the wire, like `decode.ts`. */
import type { Payload } from './payload.ts';

/** What both have of heartbeat and telemetry. */
export interface HighLatency {
  readonly customMode: number;
  /** MAV_MODE_FLAG bits; null: the message has none. */
  readonly baseMode: number | null;
  /** MAV_TYPE and MAV_AUTOPILOT; null: the message has none. */
  readonly kind: { readonly type: number; readonly autopilot: number } | null;
  /** degE7 */
  readonly lat: number;
  readonly lon: number;
  /** m above sea. */
  readonly altitude: number;
  /** Degrees. */
  readonly heading: number;
  /** Percent; -1: unknown. */
  readonly throttle: number;
  readonly battery: number;
  /** m/s */
  readonly airspeed: number;
  readonly groundspeed: number;
  readonly climb: number;
  /** Of the mission. */
  readonly item: number;
  /** GPS_FIX_TYPE and satellites; null: the message has none. */
  readonly gps: { readonly fixType: number; readonly satellites: number } | null;
  /** MAV_LANDED_STATE; null: the message has none. */
  readonly landed: number | null;
  /** HL_FAILURE_FLAG bits; the other message has a word for "some". */
  readonly failures: number;
  /** cdeg: roll and pitch; null: the message has none. */
  readonly attitude: { readonly roll: number; readonly pitch: number } | null;
  /** Time since boot of the senders we know, ms; null: the message has none. */
  readonly timestamp: number | null;
}

const ARDUPILOT = 3;

/** HIGH_LATENCY (common, deprecated). */
export function decodeHighLatency(payload: Payload): HighLatency {
  return {
    customMode: payload.u32(0),
    baseMode: payload.u8(26),
    kind: null,
    lat: payload.i32(4),
    lon: payload.i32(8),
    altitude: payload.i16(20),
    heading: payload.u16(16) / 100,
    throttle: payload.i8(28),
    battery: payload.u8(35),
    airspeed: payload.u8(29),
    groundspeed: payload.u8(31),
    climb: payload.i8(32),
    item: payload.u8(39),
    gps: { fixType: payload.u8(34), satellites: payload.u8(33) },
    landed: payload.u8(27),
    failures: 0,
    attitude: { roll: payload.i16(12), pitch: payload.i16(14) },
    timestamp: null,
  };
}

/**
 * HIGH_LATENCY2 (common). Its custom_mode has 16 bits: PX4 sends the upper half of its own (px4_custom_mode.h), ArduPilot all of it.
 * ArduPilot puts its base_mode in custom0 (GCS_MAVLINK::send_high_latency2).
 */
export function decodeHighLatency2(payload: Payload): HighLatency {
  const autopilot = payload.u8(25);
  const mode = payload.u16(12);
  return {
    customMode: autopilot === 12 ? mode * 65_536 : mode,
    baseMode: autopilot === ARDUPILOT ? payload.u8(39) : null,
    kind: { type: payload.u8(24), autopilot },
    lat: payload.i32(4),
    lon: payload.i32(8),
    altitude: payload.i16(14),
    heading: payload.u8(26) * 2,
    throttle: payload.u8(28),
    battery: payload.i8(38),
    airspeed: payload.u8(29) / 5,
    groundspeed: payload.u8(31) / 5,
    climb: payload.i8(37) / 10,
    item: payload.u16(20),
    gps: null,
    landed: null,
    failures: payload.u16(22),
    attitude: null,
    timestamp: payload.u32(0),
  };
}
