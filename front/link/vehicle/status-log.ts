import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock } from '../clock.ts';
import type { Part, StatusLine } from '../part.ts';

const WINDOW_MS = 1000;
const LINES_PER_WINDOW = 10;

/** Writes the vehicle's texts to our log, at most ten a second, so that they cannot fill the disk. */
export class StatusLog implements Part {
  readonly #clock: Clock;
  readonly #log: Logger;
  #windowAt = -Infinity;
  #lines = 0;
  #left = 0;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  onLine({ text, severity }: StatusLine): void {
    const now = this.#clock.now();
    if (now - this.#windowAt >= WINDOW_MS) {
      if (this.#left > 0) this.#log.warn(`vehicle: ${this.#left} more lines`);
      this.#windowAt = now;
      this.#lines = 0;
      this.#left = 0;
    }
    if (this.#lines++ < LINES_PER_WINDOW) this.#log.info(`vehicle: ${text}`, { severity });
    else this.#left++;
  }
}
