import { byteAt } from './byte-at.ts';
import { frameCrc } from './crc.ts';
import { crcExtraOf } from './dialect.ts';
import { Frame } from './frame.ts';
import { messageIdV2, STX_V1, STX_V2 } from './frame-head.ts';

/** After this silence inside a frame another may have begun (docs/contract/flight.md, docs/threat-model.md J4), ms. */
export const SILENCE_MS = 50;
/** At this age of what may be a frame, any frame with a right checksum behind its first byte is more likely. */
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
 * A frame that is not whole yet is waited for, however long: a slow radio sends it in slots, a bridge cuts it into datagrams, TCP repeats
 * its second half. Once `SILENCE_MS` passed without a byte both readings are kept, that it goes on and that another frame has begun
 * behind it, and the first right checksum decides: of it, or of a frame that begins after the silence, or of frames that follow each
 * other up to the newest byte. Frames inside the content of one that goes on (a file, a log) do neither. At the age of
 * `PARTIAL_MAX_MS` any frame behind it decides. The owner calls `flushStale` at `deadline`. Nothing is allocated per frame. `push` must
 * not be called from the callback.
 */
export class Framer {
  readonly counters: FramerCounters = { frames: 0, unknown: 0, badCrc: 0, garbageBytes: 0, unknownFlags: 0 };
  readonly #onFrame: (frame: Frame) => void;
  readonly #buffer = Buffer.alloc(CAPACITY);
  /** 1 where a whole frame of a known message failed its checksum: so that each place is computed only once. */
  readonly #failed = new Uint8Array(CAPACITY);
  /** 1 where bytes came after a silence. */
  readonly #after = new Uint8Array(CAPACITY);
  readonly #frame = new Frame(this.#buffer);
  #head = 0;
  #tail = 0;
  #lastByteAt = 0;
  #headSince = 0;
  #busy = false;
  #anyFailed = false;
  #anyAfter = false;
  /** The silence since the newest byte has been looked into. */
  #silent = false;
  /** Another frame may have begun behind the one that is waited for; and that one is old. */
  #doubtful = false;
  #old = false;
  /** Under way is a look at all that waits, not new bytes. */
  #looking = false;
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

  /** When to call `flushStale`, on the clock given to `push`; null while nothing is to be looked into. */
  get deadline(): number | null {
    if (this.#head === this.#tail || (this.#silent && this.#old)) return null;
    const silent = this.#silent ? Infinity : this.#lastByteAt + SILENCE_MS;
    return Math.min(silent, this.#old ? Infinity : this.#headSince + PARTIAL_MAX_MS);
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
    else if (this.#silent && chunk.length > 0) {
      if (this.#tail === CAPACITY) this.#compact();
      this.#after[this.#tail] = 1;
      this.#anyAfter = true;
    }
    this.#silent = false;
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

  /** Looks whether another frame has begun behind one that has waited for long, see `deadline`. Cheap if there is nothing to do. */
  flushStale(now: number): void {
    const { deadline } = this;
    if (deadline === null || now < deadline) return;
    const silent = now - this.#lastByteAt >= SILENCE_MS;
    this.#doubtful = true;
    if (now - this.#headSince >= PARTIAL_MAX_MS) this.#old = true;
    const before = this.#head;
    this.#looking = true;
    try {
      this.#scan(now, silent);
    } finally {
      this.#looking = false;
    }
    if (this.#head !== before) this.#begins(now);
    if (!silent) return;
    if (this.#head === this.#tail) this.#inStep = true;
    else this.#silent = true;
  }

  /** Drops a partial frame: its connection has closed. */
  reset(): void {
    this.counters.garbageBytes += this.pending;
    this.#inStep = false;
    this.#clear();
  }

  /** @param last a silence: a whole frame is not waited for */
  #scan(now: number, last: boolean): void {
    const frame = this.#frame;
    this.#busy = true;
    try {
      while (this.#head < this.#tail) {
        const start = this.#head;
        const length = this.#examine(start, last);
        if (length === WAIT) {
          const next = this.#doubtful ? this.#begunBehind(start) : null;
          if (next === null) break;
          this.counters.garbageBytes += next - start;
          this.#stepTo(next);
          continue;
        }
        if (!this.#looking) this.#begins(now);
        if (length === REJECT) {
          this.counters.garbageBytes++;
          this.#stepTo(start + 1);
          continue;
        }
        this.#inStep = true;
        this.#head = start + length; // first, so that a callback that throws does not get the same frame again
        this.counters.frames++;
        this.#onFrame(frame);
      }
    } finally {
      this.#busy = false;
      if (this.#head === this.#tail) this.#clear();
    }
  }

  /** What is waited for is new. */
  #begins(now: number): void {
    this.#headSince = now;
    this.#old = false;
    this.#doubtful = false;
  }

  /** Goes on at a byte that no frame stands before. */
  #stepTo(at: number): void {
    this.#head = at;
    this.#inStep = at < this.#tail && this.#after[at] === 1;
  }

  /**
   * The first frame with a right checksum behind `start`, if one there shows that what stands at `start` does not go on; null: not yet.
   * It need not be the one that shows it: behind a false start byte in noise whole frames stand before the silence, too.
   */
  #begunBehind(start: number): number | null {
    let first: number | null = null;
    for (let at = start + 1; at < this.#tail; at++) {
      if (!this.#provenAt(at)) continue;
      first ??= at;
      if (this.#old || this.#after[at] === 1 || this.#followedToEnd(at)) return first;
    }
    return null;
  }

  /** Whether frames follow each other from the whole one at `start` up to the newest byte; the last may not be whole. */
  #followedToEnd(start: number): boolean {
    let at = start;
    while (at < this.#tail && this.#provenAt(at)) at += this.#claimedLength(at);
    if (at >= this.#tail) return true;
    const stx = this.#buffer[at];
    return (stx === STX_V2 || stx === STX_V1) && this.#examine(at, false) === WAIT;
  }

  /** Length of the acceptable frame at `start` (and #frame moved there), REJECT, or WAIT for more bytes. */
  #examine(start: number, last: boolean): number {
    const buffer = this.#buffer;
    const stx = buffer[start];
    if (stx !== STX_V2 && stx !== STX_V1) return REJECT;
    const there = this.#tail - start;
    if (stx === STX_V2 && there > 2 && (byteAt(buffer, start + 2) & ~SIGNED) !== 0) {
      this.counters.unknownFlags++;
      return REJECT;
    }
    if (there < (stx === STX_V2 ? 10 : 6)) return WAIT;
    const length = this.#claimedLength(start);
    const extra = this.#extraAt(start);
    if (extra >= 0) {
      if (this.#failed[start] === 0 && there < length) return WAIT;
      if (!this.#proven(start, extra)) {
        this.counters.badCrc++;
        return REJECT;
      }
      this.#frame.point(start, start + length, true);
      return length;
    }
    if (there < length) return WAIT;
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

  /** A whole frame of a known message with a right checksum begins at `start`. */
  #provenAt(start: number): boolean {
    const there = this.#tail - start;
    const stx = this.#buffer[start];
    if (stx !== STX_V2 && stx !== STX_V1) return false;
    const v2 = stx === STX_V2;
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
    if (this.#anyAfter) this.#after.fill(0, 0, this.#tail);
    this.#anyFailed = false;
    this.#anyAfter = false;
    this.#silent = false;
    this.#doubtful = false;
    this.#old = false;
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
    if (this.#anyAfter) {
      this.#after.copyWithin(0, this.#head, this.#tail);
      this.#after.fill(0, pending);
    }
    this.#head = 0;
    this.#tail = pending;
  }
}
