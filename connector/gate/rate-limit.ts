import { Denial } from '../denial.ts';

/** A token bucket for each caller. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** For tool calls, and for reads of resources. */
export const TOOL_RATE: RateLimit = { perSecond: 10, burst: 30 };
export const RESOURCE_RATE: RateLimit = { perSecond: 40, burst: 80 };

// The oldest callers are dropped: their buckets are full again anyway.
const MAX_CALLERS = 1024;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** @param now steady, ms */
  constructor(limit: RateLimit, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** @throws Denial rate_limited */
  spend(caller: string): void {
    const now = this.#now();
    const { perSecond, burst } = this.#limit;
    const before = this.#buckets.get(caller) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, before.tokens + ((now - before.at) / 1000) * perSecond);
    this.#buckets.delete(caller); // inserted again below: the map keeps the order of use
    if (tokens < 1) {
      this.#buckets.set(caller, { tokens, at: now });
      throw new Denial('rate_limited', undefined, {
        retryAfterMs: Math.ceil(((1 - tokens) / perSecond) * 1000),
      });
    }
    this.#buckets.set(caller, { tokens: tokens - 1, at: now });
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > MAX_CALLERS && oldest.done !== true) this.#buckets.delete(oldest.value);
  }
}
