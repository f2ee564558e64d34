/** One reading of what a rule watches. */
export interface Sample {
  readonly value: number;
  /** Where the rule begins to count, and where it is worse; the second may be absent. */
  readonly bounds: readonly [number, number?];
  /** Message and field of the log, `BAT.Volt`. */
  readonly of: string;
  /** More that the text of the finding says. */
  readonly note: string;
  /** When it began, where that was before it was noticed. */
  readonly from?: number;
}

/** What was beyond a bound. */
export interface Found {
  /** First and last of it, s. */
  readonly from: number;
  readonly to: number;
  /** When it was worst, and what it was then. */
  readonly at: number;
  readonly worst: Sample;
  /** 1: beyond the first bound; 2: beyond the second. */
  readonly level: 1 | 2;
  /** How often it was so. */
  readonly times: number;
}

export interface SpellOptions {
  readonly beyond?: 'above' | 'below';
  /** s that it must last. */
  readonly hold?: number;
  /** s that it must be beyond the second bound without a break; shorter, it counts as beyond the first. */
  readonly worseHold?: number;
  /** What is interrupted for less is one, s. */
  readonly join?: number;
  /** It is a state, which lasts until something else is said. */
  readonly lasts?: boolean;
}

/**
 * When a value was beyond its bounds, in so much memory however long the log is. Of several times the ones of the higher level count: a
 * short touch of the first bound does not move the onset of what came later and was worse.
 */
export class Spell {
  readonly #sign: 1 | -1;
  readonly #hold: number;
  readonly #worseHold: number;
  readonly #join: number;
  readonly #lasts: boolean;
  #open: Found | null = null;
  #best: Found | null = null;
  /** Since when it is beyond the second bound. */
  #worseFrom: number | null = null;

  constructor({ beyond = 'above', hold = 0, worseHold = 0, join = 1, lasts = false }: SpellOptions) {
    this.#sign = beyond === 'above' ? 1 : -1;
    this.#hold = hold;
    this.#worseHold = worseHold;
    this.#join = join;
    this.#lasts = lasts;
  }

  take(at: number, sample: Sample): void {
    const { value, bounds } = sample;
    if (!Number.isFinite(value)) return;
    const level = this.#levelOf(at, value, bounds);
    if (level === 0) {
      if (this.#lasts) this.#close(at);
      else if (this.#open !== null && at - this.#open.to > this.#join) this.#close();
      return;
    }
    const open = this.#open ?? { from: sample.from ?? at, to: at, at, worst: sample, level, times: 1 };
    const isWorse = (value - open.worst.value) * this.#sign > 0;
    this.#open = {
      ...open,
      to: at,
      level: Math.max(open.level, level) === 2 ? 2 : 1,
      ...(isWorse ? { at, worst: sample } : {}),
    };
  }

  /** @param end of the log, s */
  found(end: number): Found | null {
    this.#close(this.#lasts ? end : undefined);
    return this.#best;
  }

  #levelOf(at: number, value: number, [first, second]: Sample['bounds']): 0 | 1 | 2 {
    this.#worseFrom = this.#isBeyond(value, second) ? (this.#worseFrom ?? at) : null;
    if (this.#worseFrom !== null && at - this.#worseFrom >= this.#worseHold) return 2;
    return this.#worseFrom !== null || this.#isBeyond(value, first) ? 1 : 0;
  }

  #isBeyond(value: number, bound: number | undefined): boolean {
    return bound !== undefined && (value - bound) * this.#sign > 0;
  }

  #close(until?: number): void {
    const [last, best] = [this.#open, this.#best];
    this.#open = null;
    if (last === null) return;
    const open = { ...last, to: until ?? last.to };
    if (open.to - open.from < this.#hold) return;
    if (best === null || open.level > best.level) this.#best = open;
    else if (open.level === best.level) {
      const isWorse = (open.worst.value - best.worst.value) * this.#sign > 0;
      const { at, worst } = isWorse ? open : best;
      this.#best = { ...best, to: open.to, at, worst, times: best.times + 1 };
    }
  }
}
