/** Counts as wfb-ng reports them: `[since the last report, since the start]`. */
export class Counters<Name extends string> {
  readonly #counts: Map<Name, { interval: number; total: number }>;

  constructor(names: readonly Name[]) {
    this.#counts = new Map(names.map((name) => [name, { interval: 0, total: 0 }]));
  }

  add(name: Name, by = 1): void {
    const count = this.#counts.get(name);
    if (count === undefined) return;
    count.interval += by;
    count.total += by;
  }

  /** Begins a new interval. */
  take(): Readonly<Record<string, readonly [number, number]>> {
    const taken = [...this.#counts].map(([name, { interval, total }]) => [name, [interval, total]] as const);
    for (const count of this.#counts.values()) count.interval = 0;
    return Object.fromEntries(taken);
  }
}
