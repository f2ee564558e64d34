/**
 * Budgets per peer (spec/decisions.md 4.8): 60 requests a second with a burst of 120; 10 failed credentials a minute, then
 * a lock that doubles from 30 s to 15 min while the failing goes on. Bounded: the peers seen longest ago are forgotten.
 */

const RATE_PER_S = 60;
const BURST = 120;
const FAILURES = 10;
const FAILURE_WINDOW_MS = 60_000;
const FIRST_LOCK_MS = 30_000;
const LONGEST_LOCK_MS = 15 * 60_000;
const MAX_PEERS = 4096;

interface Account {
  tokens: number;
  refilledAt: number;
  failures: number;
  windowStart: number;
  lockedUntil: number;
  nextLockMs: number;
}

export class PeerBudgets {
  readonly #accounts = new Map<string, Account>();
  readonly #now: () => number;

  /** @param now monotonic clock, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many peers are remembered. */
  get size(): number {
    return this.#accounts.size;
  }

  /** Whole seconds until this peer may ask again; null while it may. Changes nothing but the refill. */
  limitedFor(peer: string): number | null {
    const account = this.#accounts.get(peer);
    if (account === undefined) return null;
    this.#refill(account);
    return account.tokens >= 1 ? null : Math.ceil((1 - account.tokens) / RATE_PER_S);
  }

  /** Whole seconds until this peer's credentials are looked at again; null while they are. */
  lockedFor(peer: string): number | null {
    const account = this.#accounts.get(peer);
    if (account === undefined || account.lockedUntil === 0) return null;
    const left = account.lockedUntil - this.#now();
    return left > 0 ? Math.ceil(left / 1000) : null;
  }

  /** Takes one request from the peer's budget. */
  spend(peer: string): void {
    const account = this.#account(peer);
    this.#refill(account);
    account.tokens = Math.max(0, account.tokens - 1);
  }

  /** Counts one failed credential. */
  fail(peer: string): void {
    const account = this.#account(peer);
    const now = this.#now();
    if (now - account.windowStart > FAILURE_WINDOW_MS) {
      account.windowStart = now;
      account.failures = 0;
      if (now > account.lockedUntil + FAILURE_WINDOW_MS) account.nextLockMs = FIRST_LOCK_MS;
    }
    account.failures++;
    if (account.failures < FAILURES) return;
    account.lockedUntil = now + account.nextLockMs;
    account.nextLockMs = Math.min(LONGEST_LOCK_MS, account.nextLockMs * 2);
    account.failures = 0;
  }

  #refill(account: Account): void {
    const now = this.#now();
    account.tokens = Math.min(BURST, account.tokens + ((now - account.refilledAt) / 1000) * RATE_PER_S);
    account.refilledAt = now;
  }

  #account(peer: string): Account {
    const known = this.#accounts.get(peer);
    if (known !== undefined) return known;
    if (this.#accounts.size >= MAX_PEERS) {
      const oldest = this.#accounts.keys().next().value;
      if (oldest !== undefined) this.#accounts.delete(oldest);
    }
    const now = this.#now();
    const account = {
      tokens: BURST,
      refilledAt: now,
      failures: 0,
      windowStart: now,
      lockedUntil: 0,
      nextLockMs: FIRST_LOCK_MS,
    };
    this.#accounts.set(peer, account);
    return account;
  }
}
