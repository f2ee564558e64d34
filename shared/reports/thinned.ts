/** A moment and a value. */
type Point = readonly [at: number, value: number];

interface Bucket {
  low: Point;
  high: Point;
}

/** The lowest and the highest of each part of a long row of values, in so much memory however long it is. */
export class Thinned {
  readonly #most: number;
  #buckets = new Map<number, Bucket>();
  /** Of a part, s. */
  #width = 1e-3;
  #start: number | null = null;

  /** @param points at most, 2 or more */
  constructor(points: number) {
    this.#most = Math.max(1, Math.floor(points / 2));
  }

  take(at: number, value: number): void {
    if (!Number.isFinite(value)) return;
    this.#start ??= at;
    this.#put([at, value]);
    while (this.#buckets.size > this.#most) this.#halve();
  }

  points(): readonly Point[] {
    return [...this.#buckets.values()]
      .flatMap(({ low, high }) => (low === high ? [low] : [low, high].toSorted(([a], [b]) => a - b)))
      .toSorted(([a], [b]) => a - b);
  }

  #put(point: Point): void {
    const index = Math.floor((point[0] - (this.#start ?? 0)) / this.#width);
    const bucket = this.#buckets.get(index);
    if (bucket === undefined) {
      this.#buckets.set(index, { low: point, high: point });
      return;
    }
    if (point[1] < bucket.low[1]) bucket.low = point;
    if (point[1] > bucket.high[1]) bucket.high = point;
  }

  #halve(): void {
    const points = [...this.#buckets.values()].flatMap(({ low, high }) => [low, high]);
    this.#buckets = new Map();
    this.#width *= 2;
    for (const point of points) this.#put(point);
  }
}
