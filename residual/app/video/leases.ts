import { ApiError } from '../../../shared/errors.ts';

/**
 * The leases of clients that need the full picture (docs/contract/video.md). The node shows `hero` while any lease is live, and the
 * base profile otherwise.
 */

export type ProfileName = 'hero' | 'thumbnail';

interface Lease {
  readonly holder: string;
  readonly profile: 'hero';
  readonly lease_s: number;
  /** When it ends, on the book's clock, ms. */
  readonly expiresAt: number;
}

export const LEASE_SECONDS = { least: 5, most: 120, default: 30 } as const;
/** Reserved for the node's own vision; other clients cannot use this name. */
export const RESERVED_HOLDER = 'vision';
const MAX_LEASES = 64;

export class LeaseBook {
  readonly #now: () => number;
  readonly #leases = new Map<string, Lease>();
  #base: ProfileName;

  /** @param now monotonic clock, ms: a step of the wall clock neither ends nor extends a lease */
  constructor(base: ProfileName, now: () => number) {
    this.#base = base;
    this.#now = now;
  }

  get base(): ProfileName {
    return this.#base;
  }

  /** Sets the base profile; leases stay. */
  moveBase(profile: ProfileName): void {
    this.#base = profile;
  }

  /**
   * Creates or renews the holder's lease; `thumbnail` releases it.
   * @param seconds 5 to 120, counted from now
   * @throws ApiError E_INVALID_VALUE for the reserved holder, E_RATE_LIMITED if there are 64 others
   */
  hold(holder: string, profile: ProfileName, seconds: number): void {
    if (holder === RESERVED_HOLDER) {
      throw new ApiError('E_INVALID_VALUE', `The holder ${RESERVED_HOLDER} is the node's own.`, {
        errors: [{ path: '/holder', message: 'is reserved' }],
      });
    }
    if (profile === 'thumbnail') {
      this.release(holder);
      return;
    }
    this.#checkRoom(holder);
    this.#set(holder, profile, seconds);
  }

  /** The node's own lease, which nobody outside can create, renew or release. @param seconds counted from now */
  holdOwn(seconds: number): void {
    this.#set(RESERVED_HOLDER, 'hero', seconds);
  }

  #set(holder: string, profile: 'hero', seconds: number): void {
    const expiresAt = this.#now() + seconds * 1000;
    this.#leases.set(holder, { holder, profile, lease_s: seconds, expiresAt });
  }

  #checkRoom(holder: string): void {
    const live = this.live();
    const first = live[0];
    if (live.length >= MAX_LEASES && first !== undefined && !this.#leases.has(holder)) {
      const wait = Math.max(1, Math.ceil((first.expiresAt - this.#now()) / 1000));
      throw new ApiError(
        'E_RATE_LIMITED',
        `${MAX_LEASES} leases are live already.`,
        {},
        { 'retry-after': String(wait) },
      );
    }
  }

  /** Does nothing if there is none. */
  release(holder: string): void {
    this.#leases.delete(holder);
  }

  /** The leases, the next to end first. A lease ends exactly at its millisecond. */
  live(): readonly Lease[] {
    const now = this.#now();
    for (const { holder, expiresAt } of this.#leases.values()) {
      if (expiresAt <= now) this.#leases.delete(holder);
    }
    return [...this.#leases.values()].toSorted((a, b) => a.expiresAt - b.expiresAt);
  }

  /** The profile that the encoder must use now. */
  get wanted(): ProfileName {
    return this.live().length > 0 ? 'hero' : this.#base;
  }
}
