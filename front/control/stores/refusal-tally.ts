import type { AuditRecord } from '../../../shared/audit/chain.ts';

export type Noted = Omit<AuditRecord, 'time'>;

/** How long equal refusals are counted before their number is written. */
const WINDOW_MS = 60_000;
/** Different refusals of one peer within a window; the others share one entry. */
const MAX_KINDS = 16;
/** Different refusals of all peers; those of further peers share one entry. */
const MAX_KEYS = 1024;
const OTHERS = 'others';

interface Counted {
  readonly record: Noted;
  readonly peer: string;
  readonly openedAt: number;
  readonly since: string;
  count: number;
}

/**
 * Writes many equal refusals of one peer as one record with a count: the first at once, the others together when the window
 * ends. So the number of records stays bounded.
 */
export class RefusalTally {
  readonly #now: () => number;
  readonly #wall: () => number;
  readonly #counted = new Map<string, Counted>();
  readonly #kinds = new Map<string, number>();

  /** @param now monotonic, ms @param wall wall clock, ms */
  constructor(now: () => number, wall: () => number) {
    this.#now = now;
    this.#wall = wall;
  }

  /** @param peer the peer that it is counted for @returns the record to write now, null if it was only counted */
  add(peer: string, record: Noted): Noted | null {
    const [who, noted] = this.#place(peer, record);
    const key = [who, noted.principal, noted.route, noted.outcome, noted.forced].join('\n');
    const known = this.#counted.get(key);
    if (known !== undefined) {
      known.count++;
      return null;
    }
    this.#kinds.set(who, (this.#kinds.get(who) ?? 0) + 1);
    const since = new Date(this.#wall()).toISOString();
    this.#counted.set(key, { record: noted, peer: who, openedAt: this.#now(), since, count: 0 });
    return noted;
  }

  /** The records of the windows that are over. @param all of every window */
  take(all = false): readonly Noted[] {
    const now = this.#now();
    const taken: Noted[] = [];
    for (const [key, { record, peer, openedAt, since, count }] of this.#counted) {
      if (!all && now - openedAt < WINDOW_MS) continue;
      this.#counted.delete(key);
      const left = (this.#kinds.get(peer) ?? 1) - 1;
      if (left > 0) this.#kinds.set(peer, left);
      else this.#kinds.delete(peer);
      if (count > 0) taken.push({ ...record, count, since });
    }
    return taken;
  }

  #place(peer: string, record: Noted): readonly [string, Noted] {
    const several = { ...record, principal: 'several', route: null, rule: 'several' };
    const kinds = this.#kinds.get(peer) ?? 0;
    if (kinds === 0 && this.#counted.size >= MAX_KEYS) return [OTHERS, { ...several, peer: OTHERS }];
    return [peer, kinds >= MAX_KINDS ? several : record];
  }
}
