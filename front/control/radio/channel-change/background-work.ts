import { Backoff } from '../../../../shared/async/backoff.ts';
import { messageOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/process/logger.ts';
import type { ChangeClock } from './change-clock.ts';

/** What goes on after an answer: one piece of work, which is begun again after 1, 2, 4 … 30 s when it fails. */
export class BackgroundWork {
  readonly #clock: ChangeClock;
  readonly #log: Logger;
  #abort = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(clock: ChangeClock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Ends the work before, and begins this one when that has ended. */
  run(work: (signal: AbortSignal) => Promise<void>): void {
    this.#abort.abort();
    if (this.#stopped) return;
    const abort = new AbortController();
    this.#abort = abort;
    const before = this.#ended;
    this.#ended = (async () => {
      await before;
      await this.#untilDone(work, abort.signal);
    })();
  }

  /** Resolves when it has ended; not to be awaited by the work itself. */
  async end(): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.end();
  }

  async #untilDone(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(1000, 30_000);
    let said = '';
    while (!signal.aborted)
      try {
        await work(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const words = messageOf(error);
        if (words !== said) this.#log.error(`radio: change of the channel: ${words}`);
        said = words;
        await this.#clock.pause(backoff.next(), signal).catch(() => undefined); // ended meanwhile
      }
  }
}
