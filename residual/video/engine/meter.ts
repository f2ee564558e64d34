/** Frames and bytes over the last seconds, measured. */
const WINDOW_US = 2_000_000;
const MAX_SAMPLES = 512;

export class Meter {
  readonly #samples: { readonly at: number; readonly bytes: number }[] = [];
  /** When the frames began to come. */
  #since = 0;

  /** @param at microseconds of any steady clock */
  add(at: number, bytes: number): void {
    this.#forget(at);
    if (this.#samples.length === 0) this.#since = at;
    this.#samples.push({ at, bytes });
  }

  /** @returns null if there are fewer than two frames within two seconds */
  read(now: number): { readonly fps: number; readonly kbps: number } | null {
    this.#forget(now);
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.at === first.at) return null;
    // The time from the first to the last frame is exact for regular ones. Over a bad radio a few come at once, then none.
    const each = Math.min(now - this.#since, WINDOW_US) / this.#samples.length;
    const intervals = this.#samples.length - 1;
    const span = Math.max(last.at - first.at, each * intervals);
    const bytes = this.#samples.reduce((sum, sample) => sum + sample.bytes, 0) - first.bytes;
    return {
      fps: Math.round((intervals * 1e7) / span) / 10,
      kbps: Math.round((bytes * 8000) / span),
    };
  }

  #forget(now: number): void {
    while (this.#samples.length > MAX_SAMPLES || now - (this.#samples[0]?.at ?? now) > WINDOW_US)
      this.#samples.shift();
  }
}
