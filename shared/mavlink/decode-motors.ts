/**
 * Typed decode of the messages about outputs, ESCs and vibration, with values as on the wire, like `decode.ts`. Offsets follow the
 * wire order of each message.
 */
import type { Payload } from './payload.ts';

const FOUR = [0, 1, 2, 3] as const;
const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** SERVO_OUTPUT_RAW (common): sixteen outputs of a bank, µs; 0 is an output that is not there. */
export interface ServoOutputs {
  /** Which bank: 0 the first sixteen, 1 the next. */
  readonly port: number;
  readonly us: readonly number[];
}

export function decodeServoOutputs(payload: Payload): ServoOutputs {
  return {
    port: payload.u8(20),
    us: [...EIGHT.map((at) => payload.u16(4 + 2 * at)), ...EIGHT.map((at) => payload.u16(21 + 2 * at))],
  };
}

/** VIBRATION (common): m/s² of each axis, and how often each accelerometer was beyond its range since boot. */
export interface Vibration {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly clips: readonly [number, number, number];
}

export function decodeVibration(payload: Payload): Vibration {
  return {
    x: payload.f32(8),
    y: payload.f32(12),
    z: payload.f32(16),
    clips: [payload.u32(20), payload.u32(24), payload.u32(28)],
  };
}

/** One ESC of ESC_TELEMETRY_n_TO_m (ardupilotmega). */
export interface EscTelemetry {
  /** cV */
  readonly voltage: number;
  /** cA */
  readonly current: number;
  readonly rpm: number;
  /** Packets since boot, a counter that runs over; 0 with all other values 0: there is no such ESC. */
  readonly count: number;
  /** Degrees Celsius. */
  readonly temperature: number;
}

export function decodeEscTelemetry(payload: Payload): readonly EscTelemetry[] {
  return FOUR.map((at) => ({
    voltage: payload.u16(2 * at),
    current: payload.u16(8 + 2 * at),
    rpm: payload.u16(24 + 2 * at),
    count: payload.u16(32 + 2 * at),
    temperature: payload.u8(40 + at),
  }));
}

/** ESC_STATUS (common): four ESCs from `index` on. */
export interface EscStatus {
  readonly index: number;
  readonly escs: readonly { readonly rpm: number; readonly voltage: number; readonly current: number }[];
}

export function decodeEscStatus(payload: Payload): EscStatus {
  return {
    index: payload.u8(56),
    escs: FOUR.map((at) => ({
      rpm: payload.i32(8 + 4 * at),
      voltage: payload.f32(24 + 4 * at),
      current: payload.f32(40 + 4 * at),
    })),
  };
}

/** ESC_INFO (common): four ESCs from `index` on. */
export interface EscInfo {
  readonly index: number;
  /** How many ESCs the vehicle has. */
  readonly count: number;
  readonly escs: readonly {
    /** Reported errors since boot. */
    readonly errors: number;
    /** ESC_FAILURE_FLAGS */
    readonly failures: number;
    /** cdegC; 32767: not known. */
    readonly temperature: number;
  }[];
}

export function decodeEscInfo(payload: Payload): EscInfo {
  return {
    index: payload.u8(42),
    count: payload.u8(43),
    escs: FOUR.map((at) => ({
      errors: payload.u32(8 + 4 * at),
      failures: payload.u16(26 + 2 * at),
      temperature: payload.i16(34 + 2 * at),
    })),
  };
}
