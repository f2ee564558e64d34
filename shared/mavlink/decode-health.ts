/**
 * Typed decode of the messages that tell how well a flight went, with values as on the wire, like `decode.ts`. Offsets follow the wire
 * order of each message.
 */
import type { Payload } from './payload.ts';

/** The field in RAW_IMU (common), by axis; ArduPilot sends mGauss. */
export function decodeRawField(payload: Payload): readonly number[] {
  return [payload.i16(20), payload.i16(22), payload.i16(24)];
}

/** What BATTERY_STATUS says was used, mAh; -1 unknown. */
export function decodeConsumed(payload: Payload): number {
  return payload.i32(0);
}
