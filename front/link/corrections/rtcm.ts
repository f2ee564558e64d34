/** RTCM 3 frames (RTCM 10403, transport layer): 0xd3, six zero bits, ten bits of length, the message, CRC-24Q of all that. */

const PREAMBLE = 0xd3;
const HEADER_BYTES = 3;
const CRC_BYTES = 3;
/** Ten bits of length. */
const MAX_FRAME_BYTES = HEADER_BYTES + 1023 + CRC_BYTES;
const TYPE_BYTES = 2;

const TABLE = new Uint32Array(256);
for (let index = 0; index < 256; index++) {
  let value = index << 16;
  for (let bit = 0; bit < 8; bit++)
    value = (value & 0x80_00_00) === 0 ? value << 1 : (value << 1) ^ 0x86_4c_fb;
  TABLE[index] = value & 0xff_ff_ff;
}

/** CRC-24Q: polynomial 0x864cfb, initial value 0. */
export function crc24q(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xff_ff_ff) ^ (TABLE[(crc >>> 16) ^ byte] ?? 0);
  return crc;
}

interface RtcmEvents {
  /** @param type number of the message; null: it is too short to have one. @param frame valid until the call returns */
  onFrame(frame: Buffer, type: number | null): void;
  /** What begins like a frame has another checksum. @returns whether to go on: each costs the time of a whole frame */
  onBadFrame(): boolean;
}

/** Finds the frames in a stream; keeps less than one frame of it. */
export class RtcmFramer {
  readonly #events: RtcmEvents;
  #kept: Buffer = Buffer.alloc(0);

  constructor(events: RtcmEvents) {
    this.#events = events;
  }

  /** @returns false: it was told not to go on */
  push(chunk: Uint8Array): boolean {
    const bytes = this.#kept.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#kept, chunk]);
    let at = 0;
    for (;;) {
      const found = bytes.indexOf(PREAMBLE, at);
      at = found === -1 ? bytes.length : found;
      const length = frameLength(bytes, at);
      if (length === null) break;
      if (length === 0) at++;
      else if (at + length > bytes.length) break;
      else if (this.#take(bytes.subarray(at, at + length))) at += length;
      else if (this.#events.onBadFrame())
        at++; // a frame may begin within what was taken for one
      else return false;
    }
    this.#kept = Buffer.from(bytes.subarray(at));
    return true;
  }

  /** The stream begins anew. */
  reset(): void {
    this.#kept = Buffer.alloc(0);
  }

  #take(frame: Buffer): boolean {
    const end = frame.length - CRC_BYTES;
    if (crc24q(frame.subarray(0, end)) !== frame.readUIntBE(end, CRC_BYTES)) return false;
    const hasType = end - HEADER_BYTES >= TYPE_BYTES;
    this.#events.onFrame(frame, hasType ? frame.readUInt16BE(HEADER_BYTES) >>> 4 : null);
    return true;
  }
}

/** Of the frame that begins there; 0: none does; null: more bytes have to come before that is known. */
function frameLength(bytes: Buffer, at: number): number | null {
  if (at + HEADER_BYTES > bytes.length) return null;
  const field = bytes.readUInt16BE(at + 1);
  return field > MAX_FRAME_BYTES - HEADER_BYTES - CRC_BYTES ? 0 : field + HEADER_BYTES + CRC_BYTES;
}
