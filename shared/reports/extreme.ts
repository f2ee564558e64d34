/** The largest or smallest of many values, and when it was. */
export class Extreme {
  /** Null: none has come. */
  value: number | null = null;
  at = 0;
  readonly #sign: 1 | -1;

  constructor(which: 'max' | 'min') {
    this.#sign = which === 'max' ? 1 : -1;
  }

  take(at: number, value: number): void {
    if (!Number.isFinite(value)) return;
    if (this.value !== null && (value - this.value) * this.#sign <= 0) return;
    this.value = value;
    this.at = at;
  }
}
