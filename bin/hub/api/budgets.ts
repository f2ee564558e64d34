import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { ApiError } from '../../../shared/errors.ts';

const MAX_CALLERS = 10_000;
/** Wrong credentials of one address. */
const FAILURES: Rate = { perSecond: 0.2, burst: 10 };

/** Rate limits by address and by credential; those who were not seen for the longest time are forgotten first. */
export class Budgets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #now: () => number;

  /** @param now monotonic, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws ApiError E_RATE_LIMITED */
  spend(who: string, kind: string, rate: Rate): void {
    const bucket = this.#bucket(`${kind} ${who}`, rate);
    if (bucket.take(this.#now())) return;
    throw limited('E_RATE_LIMITED', 'Too many requests. Wait for Retry-After.', bucket.waitMs(this.#now()));
  }

  /** Counts a wrong credential. Each has 256 bits, so this only saves work. @throws ApiError E_LOCKED after too many */
  failed(peer: string): void {
    const bucket = this.#bucket(`failures ${peer}`, FAILURES);
    if (bucket.take(this.#now())) return;
    const detail = 'Too many wrong credentials. Wait as long as Retry-After says.';
    throw limited('E_LOCKED', detail, bucket.waitMs(this.#now()));
  }

  #bucket(key: string, rate: Rate): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(rate, this.#now());
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= MAX_CALLERS && oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

function limited(code: 'E_RATE_LIMITED' | 'E_LOCKED', detail: string, waitMs: number): ApiError {
  return new ApiError(code, detail, {}, { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) });
}
