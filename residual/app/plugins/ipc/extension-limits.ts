import { TokenBucket } from '../../../../shared/async/token-bucket.ts';

/** What costs the node or the vehicle something, for one extension over all of its connections. */
const RATES = {
  commands: { perSecond: 10, burst: 10 },
  /** A picture is decoded and encoded for it. */
  pictures: { perSecond: 5, burst: 5 },
} as const;

export class ExtensionLimits {
  readonly #now: () => number;
  readonly #buckets: Readonly<Record<keyof typeof RATES, TokenBucket>>;

  /** @param now monotonic, ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#buckets = {
      commands: new TokenBucket(RATES.commands, now()),
      pictures: new TokenBucket(RATES.pictures, now()),
    };
  }

  /** @throws Error: more than its rate */
  take(what: keyof typeof RATES): void {
    if (!this.#buckets[what].take(this.#now())) throw new Error(`at most ${RATES[what].perSecond} a second`);
  }
}
