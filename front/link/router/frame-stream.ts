import type { Frame } from '../../../shared/mavlink/frame.ts';
import { Framer, type FramerCounters } from '../../../shared/mavlink/framer.ts';
import type { Clock, Timer } from '../clock.ts';

/** A Framer with a timer: gives up a partial frame in time even if no more bytes come. One for each connection or peer. */
export class FrameStream {
  readonly #framer: Framer;
  readonly #clock: Clock;
  #timer: Timer | null = null;

  constructor(clock: Clock, onFrame: (frame: Frame) => void) {
    this.#clock = clock;
    this.#framer = new Framer(onFrame);
  }

  get counters(): Readonly<FramerCounters> {
    return this.#framer.counters;
  }

  push(chunk: Uint8Array): void {
    this.#framer.push(chunk, this.#clock.now());
    this.#arm();
  }

  /** The connection has closed: drops a partial frame. */
  reset(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#framer.reset();
  }

  // One timer at a time: when it fires it checks the age, which is cheaper than a new timer for each chunk.
  #arm(): void {
    const { deadline } = this.#framer;
    if (deadline === null || this.#timer !== null) return;
    this.#timer = this.#clock.after(Math.max(1, Math.ceil(deadline - this.#clock.now())), () => {
      this.#timer = null;
      this.#framer.flushStale(this.#clock.now());
      this.#arm();
    });
  }
}
