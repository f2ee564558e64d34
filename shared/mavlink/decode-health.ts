/**
 * Typed decode of the messages that tell how well a flight went, with values as on the wire, like `decode.ts`. Offsets follow the wire
 * order of each message.
 */
import type { Payload } from './payload.ts';

const OUTPUTS = 8;
const OUTPUTS_EXT = 8;

/** VIBRATION (common): m/s² by axis; clips of three accelerometers, counted since boot. */
interface Vibration {
  readonly axes: readonly number[];
  readonly clips: readonly number[];
}

export function decodeVibration(payload: Payload): Vibration {
  return {
    axes: [payload.f32(8), payload.f32(12), payload.f32(16)],
    clips: [payload.u32(20), payload.u32(24), payload.u32(28)],
  };
}

/** The field in RAW_IMU (common), by axis; ArduPilot sends mGauss. */
export function decodeRawField(payload: Payload): readonly number[] {
  return [payload.i16(20), payload.i16(22), payload.i16(24)];
}

/** SERVO_OUTPUT_RAW (common): µs, 0 where there is none; port 0 has outputs 1 to 16. */
export function decodeServoOutputs(payload: Payload): {
  readonly port: number;
  readonly pwm: readonly number[];
} {
  const pwm: number[] = [];
  for (let output = 0; output < OUTPUTS; output++) pwm.push(payload.u16(4 + 2 * output));
  for (let output = 0; output < OUTPUTS_EXT; output++) pwm.push(payload.u16(21 + 2 * output));
  return { port: payload.u8(20), pwm };
}

/** What BATTERY_STATUS says was used, mAh; -1 unknown. */
export function decodeConsumed(payload: Payload): number {
  return payload.i32(0);
}
