export interface Rate {
  readonly perSecond: number;
  /** The largest burst after a pause. */
  readonly burst: number;
}

/** Allows `perSecond` on average and `burst` at once. Times are of a monotonic clock, ms. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#at = now;
  }

  /** @param cost tokens; more than there are is owed. @returns false, and takes nothing, if there is no token */
  take(now: number, cost = 1): boolean {
    if (this.waitMs(now) > 0) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Whether it is as it was when new, so that nothing is forgotten with it. */
  isFull(now: number): boolean {
    this.waitMs(now);
    return this.#tokens >= this.#rate.burst;
  }

  /** ms until there is a token; 0 if there is one. */
  waitMs(now: number): number {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / perSecond) * 1000);
  }
}
