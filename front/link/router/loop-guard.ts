import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { Clock } from '../clock.ts';

const SLOTS = 4096;
/** A frame that was passed on and comes back another way within this time is the same frame on a loop. */
const MEMORY_MS = 2000;
/** For one that came from an endpoint: two ground stations of one name may well send the same. */
const ENDPOINT_MEMORY_MS = 250;
/** Where frames come from: what we sent to the source, what we sent to endpoints, the source. Endpoints count on from here. */
export const OWN_TO_SOURCE = 0;
export const OWN_TO_ENDPOINTS = 1;
export const SOURCE = 2;
export const FIRST_ENDPOINT = 3;

/**
 * Knows the frames that were passed on and where they came from (our own among them), so that one which comes back from
 * elsewhere cannot go round in a circle: two routers connected to each other, or a source that leads to our own endpoint. The
 * same frame from the same place is no loop: simple senders do not number theirs. A table of fixed size, where a newer frame
 * takes an older one's place; forgetting one lets an echo pass once, to be remembered then.
 */
export class LoopGuard {
  readonly #clock: Clock;
  readonly #low = new Int32Array(SLOTS);
  readonly #high = new Int32Array(SLOTS);
  readonly #from = new Int32Array(SLOTS);
  readonly #at = new Float64Array(SLOTS).fill(-Infinity);

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

  /** Where else this frame came from a moment ago; null when it did not. */
  echoOf(frame: Frame, from: number): number | null {
    const low = lowOf(frame);
    const high = highOf(frame);
    const slot = slotOf(low, high);
    const before = this.#from[slot] as number;
    if (this.#low[slot] !== low || this.#high[slot] !== high || before === from) return null;
    const memory = before >= FIRST_ENDPOINT ? ENDPOINT_MEMORY_MS : MEMORY_MS;
    return this.#clock.now() - (this.#at[slot] as number) < memory ? before : null;
  }
}

/** Checksum, sequence number and component. */
function lowOf({ buffer, payloadStart, payloadLength, seq, component }: Frame): number {
  const crcAt = payloadStart + payloadLength;
  return (buffer[crcAt] as number) | ((buffer[crcAt + 1] as number) << 8) | (seq << 16) | (component << 24);
}

function highOf({ id, system }: Frame): number {
  return id | (system << 24);
}

function slotOf(low: number, high: number): number {
  return (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 16) & (SLOTS - 1);
}
