import { type Rate, TokenBucket } from '../../shared/async/token-bucket.ts';
import { Denial } from '../denial.ts';

/** For tool calls, and for reads of resources. */
export const TOOL_RATE: Rate = { perSecond: 10, burst: 30 };
export const RESOURCE_RATE: Rate = { perSecond: 40, burst: 80 };

// The oldest callers are dropped: their buckets are full again anyway.
const MAX_CALLERS = 1024;

/** A token bucket for each caller. */
export class RateLimiter {
  readonly #limit: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, TokenBucket>();

  /** @param now steady, ms */
  constructor(limit: Rate, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** @throws Denial rate_limited */
  spend(caller: string): void {
    const now = this.#now();
    const bucket = this.#buckets.get(caller) ?? new TokenBucket(this.#limit, now);
    this.#buckets.delete(caller); // the map keeps the order of use
    this.#buckets.set(caller, bucket);
    if (!bucket.take(now)) throw new Denial('rate_limited', undefined, { retryAfterMs: bucket.waitMs(now) });
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > MAX_CALLERS && oldest.done !== true) this.#buckets.delete(oldest.value);
  }
}
