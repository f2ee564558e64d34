import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { ApiError } from '../../../shared/errors.ts';
import { sha256 } from '../people/secret.ts';

const MAX_CALLERS = 10_000;
/** Wrong credentials of one address. */
const FAILURES: Rate = { perSecond: 0.2, burst: 10 };
const KNOWN_MS = 600_000;

/** Rate limits by address and by credential; those who were not seen for the longest time are forgotten first. */
export class Budgets {
  readonly #buckets = new Map<string, TokenBucket>();
  /** By the hash of the credential: until when, monotonic ms. */
  readonly #known = new Map<string, number>();
  readonly #now: () => number;

  /** @param now monotonic, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether this credential was let in of late: it does not spend what the strangers of its address have. */
  knows(credential: string): boolean {
    const until = this.#known.get(keyOf(credential)) ?? 0;
    return this.#now() < until;
  }

  /** It was let in. */
  remember(credential: string): void {
    const key = keyOf(credential);
    this.#known.delete(key);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_CALLERS && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, this.#now() + KNOWN_MS);
  }

  /** @param rate null: free @throws ApiError E_RATE_LIMITED */
  spend(who: string, kind: string, rate: Rate | null): void {
    if (rate === null) return;
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

function keyOf(credential: string): string {
  return sha256(credential).toString('base64');
}
