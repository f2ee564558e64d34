/** Typed decode of the messages of the log protocol (mavlink.io/en/services/log_transfer.html), like `decode.ts`. */
import type { Payload } from './payload.ts';

/** LOG_ENTRY: one log, or (ArduPilot, `count` 0) that there is none. */
export interface LogEntry {
  readonly id: number;
  /** How many logs there are. */
  readonly count: number;
  /** The last id of this list. */
  readonly last: number;
  /** Seconds since 1970; 0: not known. */
  readonly time: number;
  /** Bytes; ArduPilot's own estimate for one that is being written. */
  readonly size: number;
}

export function decodeLogEntry(payload: Payload): LogEntry {
  return {
    id: payload.u16(8),
    count: payload.u16(10),
    last: payload.u16(12),
    time: payload.u32(0),
    size: payload.u32(4),
  };
}

/** Bytes of a log in one LOG_DATA. */
export const LOG_DATA_BYTES = 90;

export interface LogData {
  readonly id: number;
  readonly offset: number;
  /** At most 90 bytes, a copy; none at the end of the log. */
  readonly data: Buffer;
}

export function decodeLogData(payload: Payload): LogData {
  return {
    id: payload.u16(4),
    offset: payload.u32(0),
    data: payload.copy(7, Math.min(LOG_DATA_BYTES, payload.u8(6))),
  };
}
