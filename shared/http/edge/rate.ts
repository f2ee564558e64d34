import { type Rate, TokenBucket } from '../../async/token-bucket.ts';

/**
 * Budgets per peer (docs/contract/edge.md#budgets): 60 requests a second with a burst of 120, where nothing else is said; 10 failed credentials a minute, then a
 * lock that doubles from 30 s to 15 min with further failures. The memory is bounded, and nobody gets anything back by being
 * dropped from it: a budget goes only when it is full again, a lock never. If there is no room, new peers share one.
 */

const REQUESTS: Rate = { perSecond: 60, burst: 120 };
/** All peers together for which there is no room have so many times the budget of one. */
const SHARED = 10;
const FAILURES = 10;
const FAILURE_WINDOW_MS = 60_000;
const FIRST_LOCK_MS = 30_000;
const LONGEST_LOCK_MS = 15 * 60_000;
const MAX_PEERS = 4096;
const OTHERS = '*';

interface Failing {
  failures: number;
  windowStart: number;
  lockedUntil: number;
  nextLockMs: number;
}

/** A lock in the form in which it is stored. */
export interface Lock {
  readonly peer: string;
  /** ms from now on. */
  readonly leftMs: number;
  /** Length of the next lock, ms. */
  readonly nextLockMs: number;
}

export class PeerBudgets {
  /** In the order of their last requests. */
  readonly #budgets = new Map<string, TokenBucket>();
  readonly #failing = new Map<string, Failing>();
  /** Until then none of a full `#failing` can go, so that each stranger does not cost a look at all. */
  #fullUntil = -Infinity;
  readonly #now: () => number;
  readonly #onLock: () => void;
  readonly #rate: Rate;

  /**
   * @param now monotonic clock, ms
   * @param onLock called after a peer was locked
   * @param rate requests of one peer
   */
  constructor(now: () => number, onLock: () => void = () => undefined, rate = REQUESTS) {
    this.#now = now;
    this.#onLock = onLock;
    this.#rate = rate;
  }

  /** How many peers are remembered. */
  get size(): number {
    return Math.max(this.#budgets.size, this.#failing.size);
  }

  /** Whole seconds until this peer may ask again; null while it may. */
  limitedFor(peer: string): number | null {
    const now = this.#now();
    const budget = this.#budgets.get(peer) ?? (this.#hasRoom(now) ? undefined : this.#budgets.get(OTHERS));
    const waitMs = budget?.waitMs(now) ?? 0;
    return waitMs === 0 ? null : Math.ceil(waitMs / 1000);
  }

  /** Whole seconds until this peer's credentials are checked again; null while it is not locked. */
  lockedFor(peer: string): number | null {
    const failing =
      this.#failing.get(peer) ?? (this.#failing.size >= MAX_PEERS ? this.#failing.get(OTHERS) : undefined);
    if (failing === undefined || failing.lockedUntil === 0) return null;
    const left = failing.lockedUntil - this.#now();
    return left > 0 ? Math.ceil(left / 1000) : null;
  }

  /** Takes one request from the peer's budget. */
  spend(peer: string): void {
    const now = this.#now();
    const place = this.#budgets.has(peer) || this.#hasRoom(now) ? peer : OTHERS;
    const budget = this.#budgets.get(place) ?? new TokenBucket(this.#rateOf(place), now);
    budget.take(now);
    this.#budgets.delete(place);
    this.#budgets.set(place, budget);
  }

  #rateOf(place: string): Rate {
    const { perSecond, burst } = this.#rate;
    return place === OTHERS ? { perSecond: perSecond * SHARED, burst: burst * SHARED } : this.#rate;
  }

  /** Whether a new peer can have a budget of its own, for which the one used least lately goes if it is full. */
  #hasRoom(now: number): boolean {
    if (this.#budgets.size < MAX_PEERS) return true;
    const [oldest] = this.#budgets;
    if (oldest === undefined || !oldest[1].isFull(now)) return false;
    this.#budgets.delete(oldest[0]);
    return true;
  }

  /** Counts one failed credential. */
  fail(peer: string): void {
    const failing = this.#failingOf(peer);
    const now = this.#now();
    if (now - failing.windowStart > FAILURE_WINDOW_MS) {
      failing.windowStart = now;
      failing.failures = 0;
      if (now > failing.lockedUntil + FAILURE_WINDOW_MS) failing.nextLockMs = FIRST_LOCK_MS;
    }
    failing.failures++;
    if (failing.failures < FAILURES) return;
    failing.lockedUntil = now + failing.nextLockMs;
    failing.nextLockMs = Math.min(LONGEST_LOCK_MS, failing.nextLockMs * 2);
    failing.failures = 0;
    this.#onLock();
  }

  /** The locks in force. */
  locks(): readonly Lock[] {
    const now = this.#now();
    return [...this.#failing]
      .filter(([, { lockedUntil }]) => lockedUntil > now)
      .map(([peer, { lockedUntil, nextLockMs }]) => ({ peer, leftMs: lockedUntil - now, nextLockMs }));
  }

  /** Restores the locks of the former process. */
  restore(locks: readonly Lock[]): void {
    const now = this.#now();
    for (const { peer, leftMs, nextLockMs } of locks.slice(0, MAX_PEERS)) {
      this.#failing.set(peer, {
        failures: 0,
        windowStart: now,
        lockedUntil: now + Math.min(leftMs, LONGEST_LOCK_MS),
        nextLockMs: Math.min(LONGEST_LOCK_MS, Math.max(FIRST_LOCK_MS, nextLockMs)),
      });
    }
  }

  #failingOf(peer: string): Failing {
    const known = this.#failing.get(peer);
    if (known !== undefined) return known;
    if (this.#failing.size >= MAX_PEERS && this.#now() >= this.#fullUntil) this.#forget();
    const place = this.#failing.size >= MAX_PEERS ? OTHERS : peer;
    const failing = this.#failing.get(place) ?? {
      failures: 0,
      windowStart: this.#now(),
      lockedUntil: 0,
      nextLockMs: FIRST_LOCK_MS,
    };
    this.#failing.set(place, failing);
    return failing;
  }

  /** Removes peers whose lock and its doubling time are over; then one that was never locked. */
  #forget(): void {
    const now = this.#now();
    let first = Infinity;
    for (const [peer, { lockedUntil, windowStart }] of this.#failing) {
      const until = Math.max(lockedUntil, windowStart) + FAILURE_WINDOW_MS;
      if (now > until) this.#failing.delete(peer);
      else first = Math.min(first, until);
    }
    if (this.#failing.size < MAX_PEERS) return;
    for (const [peer, { lockedUntil }] of this.#failing) {
      if (lockedUntil !== 0 || peer === OTHERS) continue;
      this.#failing.delete(peer);
      return;
    }
    this.#fullUntil = first;
  }
}
