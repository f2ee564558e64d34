export interface Sample {
  /** RFC 3339 */
  readonly timestamp: string;
  readonly rssi_dbm: number | null;
  readonly snr_db: number | null;
  readonly loss_percent: number | null;
  readonly loss_before_fec_percent: number | null;
  readonly bitrate_kbps: number | null;
}

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
