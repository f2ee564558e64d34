/** Runs functions one after the other, in the order of the calls. The caller limits the queue by `size`. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();
  #size = 0;

  /** How many are running or waiting. */
  get size(): number {
    return this.#size;
  }

  /** @returns the result of `work`; an error goes only to the caller, and the next function still runs */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#size++;
    const turn = this.#tail.then(work).finally(() => {
      this.#size--;
    });
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when all functions queued so far have ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
