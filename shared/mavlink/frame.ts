import { byteAt } from './byte-at.ts';
import { messageIdV2, STX_V2 } from './frame-head.ts';

/**
 * One frame on the wire, without a copy: the Framer reuses this object for each frame, so it is valid only inside the callback.
 * `bytes()` is the frame's own copy and may be kept.
 */
export class Frame {
  /** Contains the frame from `start` to `end`, among other bytes. */
  buffer: Buffer;
  start = 0;
  end = 0;
  version: 1 | 2 = 2;
  id = 0;
  seq = 0;
  system = 0;
  component = 0;
  payloadStart = 0;
  payloadLength = 0;
  signed = false;
  /** The message is in a dialect we ship, so that its checksum was verified. */
  known = true;
  #copy: Buffer | null = null;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  /** Bytes on the wire. */
  get length(): number {
    return this.end - this.start;
  }

  /** A copy, made at the first call and shared by all callers: it must not be modified. */
  bytes(): Buffer {
    if (this.#copy === null) {
      this.#copy = Buffer.allocUnsafe(this.end - this.start);
      this.buffer.copy(this.#copy, 0, this.start, this.end);
    }
    return this.#copy;
  }

  /** Moves the view to the frame at `start`; for the Framer. */
  point(start: number, end: number, known: boolean): void {
    const { buffer } = this;
    this.#copy = null;
    this.start = start;
    this.end = end;
    this.known = known;
    this.payloadLength = byteAt(buffer, start + 1);
    if (buffer[start] === STX_V2) {
      this.version = 2;
      this.signed = (byteAt(buffer, start + 2) & 1) === 1;
      this.seq = byteAt(buffer, start + 4);
      this.system = byteAt(buffer, start + 5);
      this.component = byteAt(buffer, start + 6);
      this.id = messageIdV2(buffer, start);
      this.payloadStart = start + 10;
    } else {
      this.version = 1;
      this.signed = false;
      this.seq = byteAt(buffer, start + 2);
      this.system = byteAt(buffer, start + 3);
      this.component = byteAt(buffer, start + 4);
      this.id = byteAt(buffer, start + 5);
      this.payloadStart = start + 6;
    }
  }
}

/** The frame that these bytes are, from the first to the last, of a message that we know. */
export function frameAt(bytes: Buffer): Frame {
  const frame = new Frame(bytes);
  frame.point(0, bytes.length, true);
  return frame;
}
