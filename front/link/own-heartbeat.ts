import type { Clock, Timer } from './clock.ts';

const PERIOD_MS = 1000;
/** If the event loop was blocked for longer, the heartbeat is left out (docs/threat-model.md J13). */
const MAX_LAG_MS = 2000;

/**
 * Our heartbeat on the link, once a second while our event loop is healthy. The vehicle takes it as "the companion computer
 * works", so it must stop when the rest of the process is blocked.
 */
export class OwnHeartbeat {
  readonly #clock: Clock;
  readonly #beat: () => void;
  #timer: Timer | null = null;
  #due = 0;
  /** Beats left out because the loop was late. */
  skipped = 0;

  constructor(clock: Clock, beat: () => void) {
    this.#clock = clock;
    this.#beat = beat;
  }

  start(): void {
    this.#beat();
    this.#schedule();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#due = this.#clock.now() + PERIOD_MS;
    this.#timer = this.#clock.after(PERIOD_MS, () => {
      if (this.#clock.now() - this.#due > MAX_LAG_MS) this.skipped++;
      else this.#beat();
      this.#schedule();
    });
  }
}
