import { byteAt } from '../../../shared/mavlink/byte-at.ts';
import { Frame } from '../../../shared/mavlink/frame.ts';
import type { Clock } from '../clock.ts';

const SLOTS = 4096;
/** A frame that was passed on and comes back another way within this time is the same frame on a loop. */
const MEMORY_MS = 2000;
/** The same for a frame from an endpoint; shorter, because two ground stations with one id may send equal frames. */
const ENDPOINT_MEMORY_MS = 250;
/** Origins of frames: ours to the source, ours to endpoints, the source; endpoints have the numbers from 3 on. */
export const OWN_TO_SOURCE = 0;
export const OWN_TO_ENDPOINTS = 1;
export const SOURCE = 2;
export const FIRST_ENDPOINT = 3;

/**
 * Remembers forwarded frames (our own too) with their origin. The same frame from another origin is an echo, and stops here:
 * otherwise it would circle between two connected routers, or between a source and our own endpoint that it leads to. The same
 * frame from the same origin is not an echo: simple senders do not count their frames. The table has a fixed size, and a newer
 * frame may overwrite an older one; then its echo passes once.
 */
export class LoopGuard {
  readonly #clock: Clock;
  readonly #low = new Int32Array(SLOTS);
  readonly #high = new Int32Array(SLOTS);
  readonly #from = new Int32Array(SLOTS);
  readonly #at = new Float64Array(SLOTS).fill(-Infinity);
  readonly #own = new Frame(Buffer.alloc(0));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param from a number for where the frame came from */
  remember(frame: Frame, from: number): void {
    const low = lowOf(frame);
    const high = highOf(frame);
    const slot = slotOf(low, high);
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#from[slot] = from;
    this.#at[slot] = this.#clock.now();
  }

  /** Remembers a v2 frame of ours. @returns it, valid until the next one */
  rememberOwn(bytes: Buffer, from: typeof OWN_TO_SOURCE | typeof OWN_TO_ENDPOINTS): Frame {
    this.#own.buffer = bytes;
    this.#own.point(0, bytes.length, true);
    this.remember(this.#own, from);
    return this.#own;
  }

  /** The other origin that this frame had a moment ago; null if there is none. */
  echoOf(frame: Frame, from: number): number | null {
    const low = lowOf(frame);
    const high = highOf(frame);
    const slot = slotOf(low, high);
    const before = this.#from[slot] ?? -1;
    if (this.#low[slot] !== low || this.#high[slot] !== high || before === from) return null;
    const memory = before >= FIRST_ENDPOINT ? ENDPOINT_MEMORY_MS : MEMORY_MS;
    return this.#clock.now() - (this.#at[slot] ?? -Infinity) < memory ? before : null;
  }
}

/** Checksum, sequence number and component. */
function lowOf({ buffer, payloadStart, payloadLength, seq, component }: Frame): number {
  const crcAt = payloadStart + payloadLength;
  return byteAt(buffer, crcAt) | (byteAt(buffer, crcAt + 1) << 8) | (seq << 16) | (component << 24);
}

function highOf({ id, system }: Frame): number {
  return id | (system << 24);
}

function slotOf(low: number, high: number): number {
  return (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 16) & (SLOTS - 1);
}
