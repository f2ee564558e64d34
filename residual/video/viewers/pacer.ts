import { OVERHEAD_BYTES } from './path.ts';

/** Sends packets at a rate instead of in one burst, which would overflow a queue on the way. */

/** Anything with a size. */
interface Paced {
  readonly payload: Buffer;
}

interface PacerOptions<T extends Paced> {
  /** Kbit/s; read at each step. */
  readonly rateKbps: () => number;
  readonly send: (packet: T) => void;
  /** Steady, ms. */
  readonly now: () => number;
  /** Called when what waits would come too late; it was thrown away. */
  readonly onLate: () => void;
}

const STEP_MS = 5;
/** What may leave at once after a pause. */
const BURST_MS = 10;
/** Bound of the queue, in the time that it takes to send. */
const LATE_MS = 700;

export class Pacer<T extends Paced> {
  readonly #options: PacerOptions<T>;
  #waiting: T[] = [];
  #bytes = 0;
  #allowance = 0;
  #at = -Infinity;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: PacerOptions<T>) {
    this.#options = options;
  }

  /** The packets leave in their order, the first ones now. */
  push(packets: readonly T[]): void {
    for (const packet of packets) {
      this.#waiting.push(packet);
      this.#bytes += packet.payload.length + OVERHEAD_BYTES;
    }
    if ((this.#bytes * 8) / this.#options.rateKbps() > LATE_MS) {
      this.clear();
      this.#options.onLate();
    } else if (this.#timer === null) this.#drain();
  }

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Throws away what waits. */
  clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #drain(): void {
    this.#timer = null;
    const now = this.#options.now();
    const bytesPerMs = this.#options.rateKbps() / 8;
    this.#allowance = Math.min(this.#allowance + (now - this.#at) * bytesPerMs, BURST_MS * bytesPerMs);
    this.#at = now;
    let sent = 0;
    while (this.#allowance > 0) {
      const packet = this.#waiting[sent];
      if (packet === undefined) break;
      const bytes = packet.payload.length + OVERHEAD_BYTES;
      this.#allowance -= bytes;
      this.#bytes -= bytes;
      sent++;
      this.#options.send(packet);
    }
    this.#waiting.splice(0, sent);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#drain(), STEP_MS);
  }
}
