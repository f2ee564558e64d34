import { RtcmFramer } from '../../front/link/corrections/rtcm.ts';

/** A frame around a message of this type. @param size of the message, bytes */
export function rtcm(type: number, size: number, fill = 0x5a): Buffer {
  const frame = Buffer.alloc(size + 6, fill);
  frame.writeUInt8(0xd3, 0);
  frame.writeUInt16BE(size, 1);
  if (size >= 2) frame.writeUInt16BE(type << 4, 3);
  frame.writeUIntBE(bitwiseCrc(frame.subarray(0, size + 3)), size + 3, 3);
  return frame;
}

/** CRC-24Q as its definition says it, a bit at a time. */
export function bitwiseCrc(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1_00_00_00) !== 0) crc ^= 0x1_86_4c_fb;
    }
  }
  return crc;
}

interface Framed {
  readonly frames: Buffer[];
  readonly types: (number | null)[];
  bad: number;
  /** Bad frames until it is told to stop. */
  patience: number;
}

export function framer(patience = Infinity): Framed & { readonly framer: RtcmFramer } {
  const seen: Framed = { frames: [], types: [], bad: 0, patience };
  return Object.assign(seen, {
    framer: new RtcmFramer({
      onFrame(frame, type) {
        seen.frames.push(Buffer.from(frame));
        seen.types.push(type);
      },
      onBadFrame: () => ++seen.bad < seen.patience,
    }),
  });
}

/** Puts GPS_RTCM_DATA together as the standard tells an autopilot to. */
export class Assembler {
  readonly whole: Buffer[] = [];
  #sequence = -1;
  #parts = new Map<number, Buffer>();

  take(flags: number, data: Buffer): void {
    if ((flags & 1) === 0) {
      this.whole.push(Buffer.from(data));
      return;
    }
    if (flags >> 3 !== this.#sequence) {
      this.#sequence = flags >> 3;
      this.#parts = new Map();
    }
    this.#parts.set((flags >> 1) & 3, data);
    const parts: Buffer[] = [];
    for (let id = 0; id < 4; id++) {
      const part = this.#parts.get(id);
      if (part === undefined) return;
      parts.push(part);
      if (part.length < 180) break;
    }
    this.whole.push(Buffer.concat(parts));
    this.#parts = new Map();
  }
}
