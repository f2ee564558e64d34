const FEWEST = 20;

/** Pearson's correlation of pairs of values, as they come. */
export class Correlation {
  #count = 0;
  #meanX = 0;
  #meanY = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;

  take(x: number, y: number): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    this.#count++;
    const [dx, dy] = [x - this.#meanX, y - this.#meanY];
    this.#meanX += dx / this.#count;
    this.#meanY += dy / this.#count;
    this.#xx += dx * (x - this.#meanX);
    this.#yy += dy * (y - this.#meanY);
    this.#xy += dx * (y - this.#meanY);
  }

  /** Null: too few, or one of them never changed. */
  get value(): number | null {
    const both = Math.sqrt(this.#xx * this.#yy);
    return this.#count < FEWEST || !(both > 0) ? null : this.#xy / both;
  }
}
