/** What a report says of how well the air takes what is sent. */
interface AirReport {
  /** Monotonic, ms. */
  readonly at: number;
  /** Share of the packets that the card did not take in this interval, 0 to 1; null if nothing was sent. */
  readonly dropped: number | null;
  /** Share that was lost before FEC, 0 to 1; null if nothing was received. */
  readonly loss: number | null;
}

interface RateChange {
  readonly kbps: number;
  /** For the log. */
  readonly reason: string;
}

export interface AdaptationLimits {
  /** What the encoder has without a limit, and what it keeps at least, kbit/s. */
  readonly fullKbps: number;
  readonly leastKbps: number;
  /** Share of loss that FEC makes good: `(n - k) / n`. */
  readonly fecShare: number;
}

/** A few packets are dropped whenever another card transmits. */
const DROPPED_SHARE = 0.01;
const UP_AFTER_MS = 3000;
const UP_FACTOR = 1.2;
/** Changes below this are not worth one. */
const HYSTERESIS = 0.05;

/**
 * The bit rate of the encoder, so that the air has room for MAVLink and the tunnel beside it: down with the report that shows too
 * much, up in steps after three seconds without one. Drops are the sender's own and say by how much; loss counts from half of what
 * FEC makes good. Pure: the clock is that of the reports.
 */
export class LinkAdaptation {
  readonly #limits: AdaptationLimits;
  #kbps: number;
  /** When it was last too much, or changed. */
  #quietSince: number | null = null;

  constructor(limits: AdaptationLimits) {
    this.#limits = limits;
    this.#kbps = limits.fullKbps;
  }

  get kbps(): number {
    return this.#kbps;
  }

  /** @returns the change that is due now, null if there is none */
  take({ at, dropped, loss }: AirReport): RateChange | null {
    const { fullKbps, leastKbps, fecShare } = this.#limits;
    const tooMuch = (dropped ?? 0) > DROPPED_SHARE;
    const tooLossy = (loss ?? 0) > fecShare / 2;
    this.#quietSince ??= at;
    if (tooMuch || tooLossy) {
      this.#quietSince = at;
      const share = Math.max(tooMuch ? (dropped ?? 0) : 0, tooLossy ? (loss ?? 0) : 0);
      const reason =
        tooMuch && share === dropped
          ? `${percent(share)} of what was to be sent was dropped`
          : `${percent(share)} was lost before FEC`;
      return this.#change(Math.max(leastKbps, this.#kbps * (1 - share - HYSTERESIS)), reason);
    }
    if (at - this.#quietSince < UP_AFTER_MS || this.#kbps >= fullKbps) return null;
    this.#quietSince = at;
    return this.#change(Math.min(fullKbps, this.#kbps * UP_FACTOR), 'three seconds without drops and loss');
  }

  #change(wanted: number, reason: string): RateChange | null {
    const { fullKbps, leastKbps } = this.#limits;
    const kbps = Math.round(Math.min(fullKbps, Math.max(leastKbps, wanted)));
    const atEnd = kbps === fullKbps || kbps === leastKbps;
    if (kbps === this.#kbps) return null;
    if (!atEnd && Math.abs(kbps - this.#kbps) < this.#kbps * HYSTERESIS) return null;
    this.#kbps = kbps;
    return { kbps, reason };
  }
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
