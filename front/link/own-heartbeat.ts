import type { Clock, Timer } from './clock.ts';

const PERIOD_MS = 1000;
/** Our event loop was held up for longer: we did not do our work, and say nothing (docs/threat-model.md J13). */
const MAX_LAG_MS = 2000;

/**
 * Our heartbeat on the link, once a second while our own loop is healthy. It is what the vehicle (and whoever watches it)
 * takes as "the companion computer works": it must not come from a timer that runs while the rest stands still.
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
