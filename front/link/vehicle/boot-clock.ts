import type { Clock } from '../clock.ts';

/** If a boot time goes back by more than this, the vehicle may have restarted; by less, two messages came in the wrong order. */
const BACK_MS = 1000;
/** After a new connection or a silence: a boot time that is behind our clock by more than this may be a restart; by less, a delay. */
const LAG_MS = 3000;
/** When it booted is known to about this. */
const BEGAN_MS = 500;
/** Two messages of one kind have to be so far apart to show that their clock runs in ms. */
const SAME_MS = 400;
/** How late one of two messages may be, ms. */
const JITTER_MS = 1000;
const SAME_JITTER_MS = 300;
/** A message's clock has run in ms, if over this time it went on by as much, give or take late ones. */
const PROOF_MS = 1000;
/** Two that agree come within this time; at most one restart is believed in it. */
const WINDOW_MS = 10_000;

interface Mark {
  readonly ms: number;
  readonly at: number;
}

/**
 * Whether the vehicle has restarted, by `time_boot_ms` (common.xml: time since system boot, modulo 2^32) of its messages. Not every
 * sender keeps to it: some write microseconds, or 0. So each message is compared with the one before of its own kind alone, counts
 * once its clock has been seen to run in ms, and two have to agree on a restart.
 */
export class BootClock {
  readonly #clock: Clock;
  /** The newest of each message, by its id. */
  readonly #newest = new Map<number, Mark>();
  /** Since when each message is watched; null: its clock has run in ms, so it may show a restart. */
  readonly #proofs = new Map<number, Mark | null>();
  /** Those that may show a restart. */
  readonly #suspects = new Map<number, Mark>();
  #returnedAt = Number.NEGATIVE_INFINITY;
  #restartedAt = Number.NEGATIVE_INFINITY;
  /** When a restart was ordered; null: none is. */
  #orderedAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Another vehicle. */
  forget(): void {
    this.#newest.clear();
    this.#proofs.clear();
    this.#suspects.clear();
  }

  /** A new connection, or the end of a silence: it may have restarted meanwhile, and be up for longer than it was. */
  returned(): void {
    this.#returnedAt = this.#clock.now();
  }

  /** A restart is about to be ordered, or is not awaited any more. */
  order(isAwaited: boolean): void {
    this.#orderedAt = isAwaited ? this.#clock.now() : null;
  }

  /**
   * A message with a boot time.
   * @param id of the message @param ms its `time_boot_ms`
   * @returns `unsure`: it may be of another life than what came before
   */
  hear(id: number, ms: number): 'goes-on' | 'unsure' | 'restarted' {
    const now = this.#clock.now();
    const before = this.#newest.get(id);
    if (ms === 0) return 'unsure'; // a sender without that clock
    if (before === undefined) {
      this.#newest.set(id, { ms, at: now });
      this.#prove(id, { ms, at: now });
      return 'unsure';
    }
    const passed = since(before.ms, ms);
    const lags = before.at < this.#returnedAt && passed < now - before.at - LAG_MS;
    const ordered = this.#isOrdered(ms, before);
    if (passed >= -BACK_MS && !lags && !ordered) {
      this.#newest.set(id, { ms: passed > 0 ? ms : before.ms, at: now });
      this.#suspects.delete(id);
      this.#prove(id, { ms, at: now });
      return 'goes-on';
    }
    const runs = this.#proofs.get(id) === null;
    const agrees = runs && this.#agrees(id, { ms, at: now }) && now - this.#restartedAt >= WINDOW_MS;
    if (ordered || agrees) {
      // Who writes ms still does.
      this.#newest.clear();
      this.#suspects.clear();
      this.#newest.set(id, { ms, at: now });
      this.#restartedAt = now;
      this.#orderedAt = null;
      return 'restarted';
    }
    const first = this.#suspects.get(id);
    if (first === undefined) this.#suspects.set(id, { ms, at: now });
    else if (now - first.at > WINDOW_MS) {
      // Nobody else has restarted: only this clock was set.
      this.#suspects.delete(id);
      this.#newest.set(id, { ms, at: now });
    }
    return 'unsure';
  }

  /** Takes note whether the clock of that message runs in ms; one in µs that is late looks like a restart. */
  #prove(id: number, mark: Mark): void {
    const first = this.#proofs.get(id);
    if (first === null) return;
    const watched = first === undefined ? 0 : mark.at - first.at;
    if (first !== undefined && watched < PROOF_MS) return;
    const runs = first !== undefined && Math.abs(since(first.ms, mark.ms) - watched) <= watched / 2;
    this.#proofs.set(id, runs ? null : mark);
  }

  /** Whether another suspect shows the same new life. */
  #agrees(id: number, { ms, at }: Mark): boolean {
    for (const [other, mark] of this.#suspects) {
      if (this.#proofs.get(other) !== null) continue;
      const waited = at - mark.at;
      const apart = Math.abs(since(mark.ms, ms) - waited);
      const fits =
        other === id
          ? waited >= SAME_MS && apart <= Math.max(SAME_JITTER_MS, waited / 4)
          : apart <= JITTER_MS;
      if (fits && waited <= WINDOW_MS) return true;
    }
    return false;
  }

  /** Whether that boot time began after the ordered restart, also of one that had only just booted. */
  #isOrdered(ms: number, before: Mark): boolean {
    if (this.#orderedAt === null) return false;
    const began = this.#clock.now() - ms;
    return began > this.#orderedAt - BEGAN_MS && began > before.at - before.ms + BEGAN_MS;
  }
}

/** From one boot time to another, ms, less than 2^31 either way. */
function since(before: number, ms: number): number {
  return (ms - before) | 0;
}
