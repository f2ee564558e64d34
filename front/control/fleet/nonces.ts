import { randomBytes } from 'node:crypto';
import { NONCE_MS } from '../../../shared/schemas/nonce.ts';

/** So short that what counts from a nonce counts from when it was told. */
const EVERY_MS = 100;

/** `fresh`: made less than 30 s ago, or than was asked; `old`: of this boot; `other`: not of this boot, so what became of its call is not known. */
type NonceAge = 'fresh' | 'old' | 'other';

/** `<boot>.<n>`: takes the place of time in calls of the fleet, so that nobody's wall clock matters (docs/contract/fleet.md). */
export class Nonces {
  readonly #boot = randomBytes(12).toString('base64url');
  readonly #now: () => number;
  readonly #startedAt: number;

  /** @param now monotonic clock, ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  get current(): string {
    return `${this.#boot}.${this.#number}`;
  }

  /** @param within for how long after it was made it is fresh, ms */
  ageOf(nonce: string, within = NONCE_MS): NonceAge {
    const [boot, number = ''] = nonce.split('.');
    if (boot !== this.#boot) return 'other';
    const n = Number(number);
    // What was never given out is not older than the present one.
    if (!Number.isSafeInteger(n) || n > this.#number) return 'other';
    return this.#elapsed - n * EVERY_MS < Math.min(within, NONCE_MS) ? 'fresh' : 'old';
  }

  get #elapsed(): number {
    return this.#now() - this.#startedAt;
  }

  get #number(): number {
    return Math.floor(this.#elapsed / EVERY_MS);
  }
}
