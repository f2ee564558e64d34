import type { Frame } from './frame.ts';

const SIZE = 256;

/**
 * Reads fields of one payload. v2 removes zero bytes from the end of a payload, and checksum and signature follow it. So the
 * payload is copied (tens of bytes) into a buffer that has zeros after it. One buffer per decoder, no allocation. Offsets are
 * bytes from the start of the payload, in the wire order of the message.
 */
export class Payload {
  readonly #bytes = Buffer.alloc(SIZE);
  readonly #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, SIZE);
  #used = 0;

  /** @returns itself, holding the payload of `frame` until the next load */
  load(frame: Frame): this {
    const { payloadLength } = frame;
    frame.buffer.copy(this.#bytes, 0, frame.payloadStart, frame.payloadStart + payloadLength);
    if (payloadLength < this.#used) this.#bytes.fill(0, payloadLength, this.#used);
    this.#used = payloadLength;
    return this;
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  i8(at: number): number {
    return this.#view.getInt8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  i16(at: number): number {
    return this.#view.getInt16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  i32(at: number): number {
    return this.#view.getInt32(at, true);
  }

  f32(at: number): number {
    return this.#view.getFloat32(at, true);
  }

  /** A char array: up to its first NUL, or all of it. Bytes that are not UTF-8 become U+FFFD. */
  text(at: number, length: number): string {
    const end = this.#bytes.indexOf(0, at);
    return this.#bytes.toString('utf8', at, end === -1 || end > at + length ? at + length : end);
  }

  hex(at: number, length: number): string {
    return this.#bytes.toString('hex', at, at + length);
  }

  /** Bytes that may be kept. */
  copy(at: number, length: number): Buffer {
    return Buffer.from(this.#bytes.subarray(at, at + length));
  }
}
