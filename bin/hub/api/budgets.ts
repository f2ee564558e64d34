import { ApiError } from '../../../shared/errors.ts';
import { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import { type HubRow, RATES } from '../../../shared/hub-api/row.ts';
import { sha256 } from '../keys/secret.ts';

const MAX_KNOWN = 10_000;
const KNOWN_MS = 600_000;

type Kind = HubRow['rate'];
type Kinds = ReadonlyMap<Kind, PeerBudgets>;

/** Rate limits by address and by credential, each kind of request by itself. */
export class Budgets {
  readonly #strangers: Kinds;
  readonly #callers: Kinds;
  readonly #failures: PeerBudgets;
  /** By the hash of the credential: until when, monotonic ms. */
  readonly #known = new Map<string, number>();
  readonly #now: () => number;

  /** @param now monotonic, ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#strangers = budgetsOf(now);
    this.#callers = budgetsOf(now);
    this.#failures = new PeerBudgets(now);
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
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, this.#now() + KNOWN_MS);
  }

  /** One request of somebody who is not known yet. @param peer the key of the address @throws ApiError E_RATE_LIMITED */
  ofStranger(peer: string, kind: Kind): void {
    spend(this.#strangers.get(kind), peer);
  }

  /** One request by a credential. @param person whose it is @throws ApiError E_RATE_LIMITED */
  ofCaller(person: string, kind: Kind): void {
    spend(this.#callers.get(kind), person);
  }

  /** Counts a wrong credential. Each has 256 bits, so this only saves work. @throws ApiError E_LOCKED after too many */
  failed(peer: string): void {
    const waitS = this.#failures.lockedFor(peer);
    if (waitS !== null)
      throw limited('E_LOCKED', 'Too many wrong credentials. Wait as long as Retry-After says.', waitS);
    this.#failures.fail(peer);
  }
}

function budgetsOf(now: () => number): Kinds {
  const kinds = new Map<Kind, PeerBudgets>();
  for (const kind of ['read', 'write', 'costly', 'page'] as const)
    kinds.set(kind, new PeerBudgets(now, undefined, RATES[kind]));
  return kinds;
}

/** @param budgets undefined: it is free */
function spend(budgets: PeerBudgets | undefined, who: string): void {
  if (budgets === undefined) return;
  const waitS = budgets.limitedFor(who);
  if (waitS !== null) throw limited('E_RATE_LIMITED', 'Too many requests. Wait for Retry-After.', waitS);
  budgets.spend(who);
}

function limited(code: 'E_RATE_LIMITED' | 'E_LOCKED', detail: string, waitS: number): ApiError {
  return new ApiError(code, detail, {}, { 'retry-after': String(Math.max(1, waitS)) });
}

function keyOf(credential: string): string {
  return sha256(credential).toString('base64');
}
