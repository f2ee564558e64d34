/** Runs what it is given one after the other, in the order in which it was asked. Whoever asks from outside bounds it by `size`. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();
  #size = 0;

  /** How much is running or waiting. */
  get size(): number {
    return this.#size;
  }

  /** @returns what `work` gives when its turn comes; its error goes to the caller alone, and the next in line still runs */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#size++;
    const turn = this.#tail.then(work).finally(() => {
      this.#size--;
    });
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when all that was asked for by now has ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
