/** One thing that must hold during the whole run. */
export interface Verdict {
  readonly name: string;
  /** What is asked for, with the limit, in a sentence. */
  readonly rule: string;
  readonly outcome: 'held' | 'broken' | 'not checked';
  readonly checked: number;
  readonly broken: number;
  /** The first breaches, with the second of the run. */
  readonly breaches: readonly string[];
  /** Worst values; null where nothing was measured. */
  readonly numbers: Readonly<Record<string, number | null>>;
}

const MAX_BREACHES = 20;

export class Invariant {
  readonly #name: string;
  readonly #rule: string;
  readonly #at: () => number;
  readonly #breaches: string[] = [];
  readonly #numbers: Record<string, number | null> = {};
  #checked = 0;
  #broken = 0;

  /** @param at seconds since the start of the run */
  constructor(name: string, rule: string, at: () => number) {
    this.#name = name;
    this.#rule = rule;
    this.#at = at;
  }

  held(): void {
    this.#checked++;
  }

  broke(how: string): void {
    this.#checked++;
    this.#broken++;
    if (this.#breaches.length < MAX_BREACHES)
      this.#breaches.push(`${Math.round(this.#at())} s: ${how.slice(0, 300)}`);
  }

  check(holds: boolean, how: () => string): void {
    if (holds) this.held();
    else this.broke(how());
  }

  /** Keeps the largest. */
  worst(name: string, value: number): void {
    this.#numbers[name] = Math.max(this.#numbers[name] ?? -Infinity, value);
  }

  number(name: string, value: number | null): void {
    this.#numbers[name] = value;
  }

  get verdict(): Verdict {
    return {
      name: this.#name,
      rule: this.#rule,
      outcome: this.#broken > 0 ? 'broken' : this.#checked > 0 ? 'held' : 'not checked',
      checked: this.#checked,
      broken: this.#broken,
      breaches: this.#breaches,
      numbers: this.#numbers,
    };
  }
}
