import { byteAt } from './byte-at.ts';
import { frameCrc } from './crc.ts';
import { crcExtraOf } from './dialect.ts';
import { Frame } from './frame.ts';
import { messageIdV2, STX_V1, STX_V2 } from './frame-head.ts';

/** A partial frame is dropped after this silence (docs/contract.md 6, docs/threat-model.md J4), ms. */
export const SILENCE_MS = 50;
/** ... or at this age even if bytes keep coming: otherwise a false start byte would delay a slow, steady stream. */
export const PARTIAL_MAX_MS = 500;

const CAPACITY = 4096;
const SIGNED = 0x01;

// The result for a place in the buffer; a positive number is the length of a whole, acceptable frame.
const WAIT = 0;
const REJECT = -1;

// The content of an unknown frame.
const NOTHING = 0;
const FRAME_INSIDE = 1;
const PERHAPS = 2;

export interface FramerCounters {
  /** Frames handed out, unknown ones included. */
  frames: number;
  /** Frames of messages that no dialect has, forwarded without a checksum. */
  unknown: number;
  badCrc: number;
  /** Bytes that belonged to no frame. */
  garbageBytes: number;
  /** v2 start bytes whose incompatibility flags we do not know; false start bytes mostly. */
  unknownFlags: number;
}

/**
 * Cuts a byte stream into MAVLink frames, v1 and v2, signed or not, and passes on each unchanged.
 *
 * A start byte is only believed when its frame proves itself; if it does not, the search goes on at the very next byte, so
 * that a false start byte never costs a frame that begins inside its claimed length:
 *  - a message we know: its checksum must be right;
 *  - an unknown incompatibility flag: never (the layout behind it is unknown);
 *  - a message we do not know has no checksum that we could verify. It is accepted when its source system is not 0, no
 *    frame with a right checksum begins inside it, and it stands where a frame should: right behind an accepted one or a
 *    silence, or right before a start byte or a silence.
 *
 * A frame that is not whole yet is waited for until `SILENCE_MS` pass without a byte or `PARTIAL_MAX_MS` in all:
 * the owner calls `flushStale` at `deadline`. Nothing is allocated per frame. `push` must not be called from the callback.
 */
export class Framer {
  readonly counters: FramerCounters = { frames: 0, unknown: 0, badCrc: 0, garbageBytes: 0, unknownFlags: 0 };
  readonly #onFrame: (frame: Frame) => void;
  readonly #buffer = Buffer.alloc(CAPACITY);
  /** 1 where a whole frame of a known message failed its checksum: so that each place is computed only once. */
  readonly #failed = new Uint8Array(CAPACITY);
  readonly #frame = new Frame(this.#buffer);
  #head = 0;
  #tail = 0;
  #lastByteAt = 0;
  #headSince = 0;
  #busy = false;
  #anyFailed = false;
  /** The byte at #head follows an accepted frame or a silence. */
  #inStep = false;

  /** @param onFrame gets the same Frame object each time; see there */
  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** Bytes of a frame that is not whole yet. */
  get pending(): number {
    return this.#tail - this.#head;
  }

  /** When to call `flushStale`, on the clock given to `push`; null while nothing is pending. */
  get deadline(): number | null {
    if (this.#head === this.#tail) return null;
    return Math.min(this.#lastByteAt + SILENCE_MS, this.#headSince + PARTIAL_MAX_MS);
  }

  /**
   * @param now monotonic ms
   * @throws only what the callback throws; the framer stays consistent, the rest of the chunk is lost
   */
  push(chunk: Uint8Array, now: number): void {
    if (this.#busy) throw new Error('push called from the callback of the same Framer');
    this.flushStale(now);
    this.#lastByteAt = now;
    if (this.#head === this.#tail) this.#headSince = now;
    let from = 0;
    while (from < chunk.length) {
      if (this.#tail === CAPACITY) this.#compact();
      const take = Math.min(CAPACITY - this.#tail, chunk.length - from);
      this.#buffer.set(take === chunk.length ? chunk : chunk.subarray(from, from + take), this.#tail);
      this.#tail += take;
      from += take;
      this.#scan(now, false);
    }
  }

  /** Drops a partial frame that has waited too long, see `deadline`. Cheap if there is nothing to do. */
  flushStale(now: number): void {
    const { deadline } = this;
    if (deadline === null || now < deadline) return;
    if (now - this.#lastByteAt >= SILENCE_MS) {
      this.#scan(now, true);
      this.#inStep = true;
      return;
    }
    this.counters.garbageBytes++;
    this.#head++;
    this.#headSince = now;
    this.#inStep = false;
    this.#scan(now, false);
  }

  /** Drops a partial frame: its connection has closed. */
  reset(): void {
    this.counters.garbageBytes += this.pending;
    this.#inStep = false;
    this.#clear();
  }

  /** @param last no more bytes will come, so do not wait for any */
  #scan(now: number, last: boolean): void {
    const frame = this.#frame;
    this.#busy = true;
    try {
      while (this.#head < this.#tail) {
        const start = this.#head;
        const length = this.#examine(start, last);
        if (length === WAIT) break;
        this.#headSince = now;
        this.#inStep = length !== REJECT;
        if (length === REJECT) {
          this.counters.garbageBytes++;
          this.#head = start + 1;
          continue;
        }
        this.#head = start + length; // first, so that a callback that throws does not get the same frame again
        this.counters.frames++;
        this.#onFrame(frame);
      }
    } finally {
      this.#busy = false;
      if (this.#head === this.#tail) this.#clear();
    }
  }

  /** Length of the acceptable frame at `start` (and #frame moved there), REJECT, or WAIT for more bytes. */
  #examine(start: number, last: boolean): number {
    const buffer = this.#buffer;
    const stx = buffer[start];
    if (stx !== STX_V2 && stx !== STX_V1) return REJECT;
    const missing = last ? REJECT : WAIT;
    const there = this.#tail - start;
    if (stx === STX_V2 && there > 2 && (byteAt(buffer, start + 2) & ~SIGNED) !== 0) {
      this.counters.unknownFlags++;
      return REJECT;
    }
    if (there < (stx === STX_V2 ? 10 : 6)) return missing;
    const length = this.#claimedLength(start);
    const extra = this.#extraAt(start);
    if (extra >= 0) {
      if (this.#failed[start] === 0 && there < length) return missing;
      if (!this.#proven(start, extra)) {
        this.counters.badCrc++;
        return REJECT;
      }
      this.#frame.point(start, start + length, true);
      return length;
    }
    if (there < length) return missing;
    const verdict = this.#examineUnknown(start, start + length, last);
    if (verdict !== length) return verdict;
    this.counters.unknown++;
    this.#frame.point(start, start + length, false);
    return length;
  }

  /** As #examine, for a whole frame of an unknown message; the rule is in the docstring of the class. */
  #examineUnknown(start: number, end: number, last: boolean): number {
    const buffer = this.#buffer;
    if (buffer[start + (buffer[start] === STX_V2 ? 5 : 3)] === 0) return REJECT; // no system has id 0
    const next = end < this.#tail ? buffer[end] : undefined;
    const followed = next === STX_V1 || next === STX_V2;
    if (!this.#inStep && next !== undefined && !followed) return REJECT;
    const inside = this.#inside(start + 1, end);
    if (inside === FRAME_INSIDE) return REJECT;
    if (last) return end - start;
    if (!this.#inStep && !followed) return WAIT;
    // A frame that begins inside and ends outside cannot be real if a verified frame begins right after this one.
    if (inside === PERHAPS && !(followed && this.#provenAt(end))) return WAIT;
    return end - start;
  }

  /** Whether a frame with a right checksum begins between `from` and `end`: NOTHING, FRAME_INSIDE, or PERHAPS (not whole yet). */
  #inside(from: number, end: number): number {
    const buffer = this.#buffer;
    let found = NOTHING;
    for (let at = from; at < end; at++) {
      const stx = buffer[at];
      if ((stx !== STX_V2 && stx !== STX_V1) || this.#failed[at] === 1) continue;
      const there = this.#tail - at;
      if (stx === STX_V2 && there > 2 && (byteAt(buffer, at + 2) & ~SIGNED) !== 0) continue;
      if (there < (stx === STX_V2 ? 10 : 6)) found = PERHAPS;
      else if (this.#extraAt(at) < 0) continue;
      else if (there < this.#claimedLength(at)) found = PERHAPS;
      else if (this.#provenAt(at)) return FRAME_INSIDE;
    }
    return found;
  }

  /** A whole frame of a known message with a right checksum begins at `start`, where a start byte stands. */
  #provenAt(start: number): boolean {
    const there = this.#tail - start;
    const v2 = this.#buffer[start] === STX_V2;
    if (there < (v2 ? 10 : 6)) return false;
    if (v2 && (byteAt(this.#buffer, start + 2) & ~SIGNED) !== 0) return false;
    const extra = this.#extraAt(start);
    const length = this.#claimedLength(start);
    return extra >= 0 && there >= length && this.#proven(start, extra);
  }

  /** Checks the checksum of the whole frame at `start`, at most once for each place. */
  #proven(start: number, extra: number): boolean {
    if (this.#failed[start] === 1) return false;
    const buffer = this.#buffer;
    const v2 = buffer[start] === STX_V2;
    const crcAt = start + byteAt(buffer, start + 1) + (v2 ? 10 : 6);
    const crc = byteAt(buffer, crcAt) | (byteAt(buffer, crcAt + 1) << 8);
    if (frameCrc(buffer, start + 1, crcAt, extra) === crc) return true;
    this.#failed[start] = 1;
    this.#anyFailed = true;
    return false;
  }

  /** Bytes that the frame at `start` claims, of which the header is there. */
  #claimedLength(start: number): number {
    const buffer = this.#buffer;
    const payload = byteAt(buffer, start + 1);
    if (buffer[start] === STX_V1) return payload + 8;
    return payload + ((byteAt(buffer, start + 2) & SIGNED) === 0 ? 12 : 25);
  }

  #extraAt(start: number): number {
    const buffer = this.#buffer;
    return crcExtraOf(buffer[start] === STX_V2 ? messageIdV2(buffer, start) : byteAt(buffer, start + 5));
  }

  #clear(): void {
    if (this.#anyFailed) this.#failed.fill(0, 0, this.#tail);
    this.#anyFailed = false;
    this.#head = 0;
    this.#tail = 0;
  }

  /**
   * Moves pending bytes to the front. There is always enough room: at most 560 bytes wait, the longest frame inside the longest
   * unknown one.
   */
  #compact(): void {
    const pending = this.pending;
    this.#buffer.copyWithin(0, this.#head, this.#tail);
    if (this.#anyFailed) {
      this.#failed.copyWithin(0, this.#head, this.#tail);
      this.#failed.fill(0, pending);
    }
    this.#head = 0;
    this.#tail = pending;
  }
}
