import { deferred } from './deferred.ts';

/** Lets so many run at the same time; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @returns the result of `work`. @param signal ends the waiting; its reason is thrown */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      // The slot goes on to the next one, or becomes free.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const turn = deferred();
    const give = (): void => {
      signal.removeEventListener('abort', leave);
      turn.resolve();
    };
    const leave = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(give), 1);
      turn.reject(signal.reason);
    };
    this.#waiting.push(give);
    signal.addEventListener('abort', leave, { once: true });
    await turn.promise;
  }
}
