/** Delays that double from `firstMs` to `capMs`; `reset()` after a success. */
export class Backoff {
  #next: number;
  readonly #firstMs: number;
  readonly #capMs: number;

  constructor(firstMs: number, capMs: number) {
    this.#firstMs = firstMs;
    this.#capMs = capMs;
    this.#next = firstMs;
  }

  next(): number {
    const delay = this.#next;
    this.#next = Math.min(this.#capMs, delay * 2);
    return delay;
  }

  reset(): void {
    this.#next = this.#firstMs;
  }
}
