import type { Made } from '../../../shared/schemas/made.ts';
import type { history } from '../../../shared/schemas/radio.ts';
export type Sample = Made<typeof history>['samples'][number];

/** Samples of the last five minutes, one a second. */
const KEPT = 300;

/** The newest samples, in a ring that does not grow. */
export class History {
  readonly #ring: (readonly [at: number, sample: Sample])[] = [];
  #next = 0;

  /** @param at monotonic clock, ms */
  add(at: number, sample: Sample): void {
    this.#ring[this.#next] = [at, sample];
    this.#next = (this.#next + 1) % KEPT;
  }

  /** Oldest first. */
  since(at: number): readonly Sample[] {
    const ordered = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return ordered.filter(([when]) => when >= at).map(([, sample]) => sample);
  }
}
