/**
 * Delays guesses of the PIN: a ladder for each peer, so that a stranger's failures do not lock out the owner, and a slower one
 * for the node, so that many addresses together cannot guess faster. The node's ladder does not apply to a peer that has
 * entered the right PIN before. The right PIN forgives the peer that entered it, and takes what that peer counted off the node's
 * ladder; what others guessed still counts, until nobody guesses wrong for a day.
 */
import { isObject, type JsonObject, recordOf } from '../../../shared/member.ts';
import type { Lived } from './lived-time.ts';

/** From `failures` in a row on, every further failure locks for `lockS`. The highest matching step applies. */
const PEER_LADDER = [
  { failures: 15, lockS: 1800 },
  { failures: 10, lockS: 300 },
  { failures: 5, lockS: 30 },
] as const;
const NODE_LADDER = [
  { failures: 300, lockS: 300 },
  { failures: 100, lockS: 60 },
  { failures: 30, lockS: 30 },
] as const;
const FREE_FAILURES = 4;
const QUIET_MS = 24 * 3_600_000;
const MAX_PEERS = 256;
/** Peers beyond the limit share one entry. */
const OTHERS = '*';

type Steps = typeof PEER_LADDER | typeof NODE_LADDER;

/** The form in the file. */
interface StoredRung {
  readonly failed_attempts: number;
  /** Wall clock, seconds since 1970; 0 for no lock. For people, and for a next process that has lost the lived time. */
  readonly locked_until: number;
  readonly lock_seconds: number;
  /** By the lived time `clock` of the file; absent in that of an older version. */
  readonly ends_ms?: number;
}

export interface StoredLadder extends StoredRung {
  /** The lived time that the locks end by. */
  readonly clock?: string;
  readonly peers: Readonly<Record<string, StoredRung & { readonly known: boolean }>>;
}

interface Rung {
  failures: number;
  lockedUntil: number;
  lockS: number;
  /** Lived, ms; the wall clock is not used, since an NTP server can change it. */
  end: number;
  /** Has entered the right PIN. */
  known: boolean;
}

export class PinLadder {
  readonly #now: () => number;
  readonly #lived: Lived;
  readonly #peers = new Map<string, Rung>();
  #node: Rung = newRung();
  /** The newest failure of anybody, lived ms. */
  #lastFailure = 0;

  /** @param now wall clock, ms */
  constructor(now: () => number, lived: Lived) {
    this.#now = now;
    this.#lived = lived;
  }

  /** Whole seconds until a guess of this peer is checked; null while it is not locked. */
  left(peer: string): number | null {
    const own = this.#find(peer);
    const end = Math.max(own?.end ?? 0, own?.known === true ? 0 : this.#node.end);
    const left = end - this.#lived.now();
    return left > 0 ? Math.ceil(left / 1000) : null;
  }

  /** Counts one wrong guess. @returns how many more guesses are free (0 or less once it locks), and the length of the lock */
  fail(peer: string): { readonly free: number; readonly lockS: number } {
    const now = this.#lived.now();
    if (now - this.#lastFailure > QUIET_MS) this.#node = newRung();
    this.#lastFailure = now;
    const own = this.#rungOf(peer);
    this.#climb(own, PEER_LADDER);
    this.#climb(this.#node, NODE_LADDER);
    return { free: FREE_FAILURES + 1 - own.failures, lockS: own.lockS };
  }

  /** The right PIN came from this peer. @returns whether that changed anything */
  forgive(peer: string): boolean {
    const own = this.#peers.get(peer);
    if (own?.known === true && own.failures === 0) return false;
    const rung = own ?? this.#rungOf(peer);
    if (this.#peers.get(OTHERS) === rung) return false; // it is others' too
    this.#node.failures = Math.max(0, this.#node.failures - rung.failures);
    Object.assign(rung, newRung(), { known: true });
    return true;
  }

  /** Starts over for a new PIN, which nobody has guessed or entered yet. */
  reset(): void {
    this.#peers.clear();
    this.#node = newRung();
  }

  stored(): StoredLadder {
    return {
      clock: this.#lived.id,
      ...storedRung(this.#node),
      peers: Object.fromEntries(
        [...this.#peers].map(([peer, rung]) => [peer, { ...storedRung(rung), known: rung.known }]),
      ),
    };
  }

  restore({ peers, clock, ...node }: StoredLadder): void {
    const isKnown = clock === this.#lived.id;
    this.#node = this.#restored(node, NODE_LADDER, isKnown);
    this.#lastFailure = this.#lived.now();
    for (const [peer, { known, ...rung }] of Object.entries(peers).slice(0, MAX_PEERS))
      this.#peers.set(peer, { ...this.#restored(rung, PEER_LADDER, isKnown), known });
  }

  #restored(stored: StoredRung, [{ lockS: longest }]: Steps, isKnown: boolean): Rung {
    const lockS = Math.min(stored.lock_seconds, longest);
    const left =
      isKnown && stored.ends_ms !== undefined
        ? (stored.ends_ms - this.#lived.now()) / 1000
        : stored.locked_until - this.#now() / 1000;
    // A clock that was set back must not make the lock longer than `lockS`.
    const leftS = Math.min(left, lockS);
    return {
      failures: Math.floor(stored.failed_attempts),
      lockedUntil: stored.locked_until,
      lockS,
      end: leftS > 0 ? this.#lived.now() + leftS * 1000 : 0,
      known: false,
    };
  }

  #climb(rung: Rung, ladder: Steps): void {
    rung.failures++;
    rung.lockS = ladder.find((step) => rung.failures >= step.failures)?.lockS ?? 0;
    rung.lockedUntil = rung.lockS === 0 ? 0 : this.#now() / 1000 + rung.lockS;
    rung.end = rung.lockS === 0 ? 0 : this.#lived.now() + rung.lockS * 1000;
  }

  #find(peer: string): Rung | undefined {
    return this.#peers.get(peer) ?? (this.#peers.size >= MAX_PEERS ? this.#peers.get(OTHERS) : undefined);
  }

  #rungOf(peer: string): Rung {
    const known = this.#peers.get(peer);
    if (known !== undefined) return known;
    if (this.#peers.size >= MAX_PEERS) this.#makeRoom();
    const place = this.#peers.size >= MAX_PEERS ? OTHERS : peer;
    const rung = this.#peers.get(place) ?? newRung();
    this.#peers.set(place, rung);
    return rung;
  }

  /** Locked peers stay: many other addresses must not push out a lock. */
  #makeRoom(): void {
    const now = this.#lived.now();
    const free = [...this.#peers].filter(([peer, { end }]) => end <= now && peer !== OTHERS);
    const [oldest] = free.find(([, { known }]) => !known) ?? free[0] ?? [];
    if (oldest !== undefined) this.#peers.delete(oldest);
  }
}

function newRung(): Rung {
  return { failures: 0, lockedUntil: 0, lockS: 0, end: 0, known: false };
}

function storedRung({ failures, lockedUntil, lockS, end }: Rung): StoredRung {
  return { failed_attempts: failures, locked_until: lockedUntil, lock_seconds: lockS, ends_ms: end };
}

/** @returns null if it is invalid */
export function parseLadder(record: JsonObject): StoredLadder | null {
  const node = parseRung(record);
  const { peers: given = {} } = record;
  if (node === null || !isObject(given)) return null;
  const peers: Record<string, StoredRung & { known: boolean }> = {};
  for (const [peer, value] of Object.entries(given)) {
    const member = recordOf(value);
    const rung = parseRung(member);
    if (rung === null) return null;
    peers[peer] = { ...rung, known: member['known'] === true };
  }
  const { clock } = record;
  return { ...node, ...(typeof clock === 'string' && { clock }), peers };
}

function parseRung(record: JsonObject): StoredRung | null {
  const { failed_attempts: failures, locked_until: lockedUntil, lock_seconds: lockS, ends_ms: ends } = record;
  return isCount(failures) && isCount(lockedUntil) && isCount(lockS) && (ends === undefined || isCount(ends))
    ? {
        failed_attempts: failures,
        locked_until: lockedUntil,
        lock_seconds: lockS,
        ...(ends !== undefined && { ends_ms: ends }),
      }
    : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
