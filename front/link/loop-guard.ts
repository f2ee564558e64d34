import type { Frame } from '../../shared/mavlink/frame.ts';
import type { Clock } from './clock.ts';

const SLOTS = 4096;
/** A frame that was sent out and comes back within this time is the same frame on a loop. */
const MEMORY_MS = 2000;

/**
 * Knows the frames that went out to the endpoints, so that an endpoint which sends them back (two routers connected to each
 * other) cannot feed the vehicle its own words in a circle. A table of fixed size, where a newer frame takes an older one's
 * place; forgetting one lets an echo pass once, to be remembered then.
 */
export class LoopGuard {
  readonly #clock: Clock;
  readonly #low = new Int32Array(SLOTS);
  readonly #high = new Int32Array(SLOTS);
  readonly #at = new Float64Array(SLOTS).fill(-Infinity);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A frame of the flight controller's side. */
  remember(frame: Frame): void {
    const low = lowOf(frame);
    const high = highOf(frame);
    const slot = slotOf(low, high);
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#at[slot] = this.#clock.now();
  }

  /** Whether this frame of an endpoint was sent out a moment ago. */
  isEcho(frame: Frame): boolean {
    const low = lowOf(frame);
    const high = highOf(frame);
    const slot = slotOf(low, high);
    return (
      this.#low[slot] === low &&
      this.#high[slot] === high &&
      this.#clock.now() - (this.#at[slot] as number) < MEMORY_MS
    );
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
