/** Which of the two encodes a viewer gets, and how large the small one may be. Pure: all times and figures come from outside. */

/** `main`: what the radio and the recording get; `small`: the second encode for paths that are too thin for it. */
export type Encode = 'main' | 'small';

/** Bounds of the small encode, kbit/s (docs/contract/video.md). */
export const SMALL_KBPS = { min: 100, max: 600 } as const;

/** What is known of the path at the moment; null: not measured. */
interface PathState {
  /** How long packets have been waiting too long. */
  readonly congestedMs: number;
  /** What the path carries; known only after packets waited. */
  readonly capacityKbps: number | null;
  /** What arrived lately: the path carries at least that. */
  readonly arrivalKbps: number | null;
  /** The share of packets that were lost lately. */
  readonly loss: number | null;
}

const LIMITS = {
  /** A queue that stands so long before the small encode does not drain by itself. */
  standingMs: 250,
  /** The same before the main encode, on a path that could carry it on the whole. */
  patienceMs: 1000,
  /** Beyond it repairs take too long. Less, without a queue, is a bad line and not a thin one. */
  loss: 0.2,
  /** Between two steps of the rate. */
  stepMs: 1000,
  growth: 1.08,
  /** Of what the path carries. */
  share: 0.8,
  /** What the path carried bounds the growth so long. */
  memoryMs: 30_000,
  /** Time for the queue to drain before the next probe. */
  settleMs: 3000,
  firstRetryMs: 10_000,
  longestRetryMs: 160_000,
  /** The main encode is on trial so long after a change to it. */
  trialMs: 10_000,
  /** Between two probes of one series; each asks for twice what the last one showed. */
  probeGapMs: 400,
  probeGrowth: 2,
} as const;

export class Adaptation {
  #encode: Encode = 'main';
  #rateKbps: number = SMALL_KBPS.max;
  /** What the path carried when it was last congested, or at the last probe. */
  #capacityKbps: number | null = null;
  #capacityAt = -Infinity;
  #steppedAt = -Infinity;
  #congestedAt = -Infinity;
  #changedAt = -Infinity;
  #retryMs: number = LIMITS.firstRetryMs;
  #probeAt = Infinity;
  #provenKbps = 0;

  get encode(): Encode {
    return this.#encode;
  }

  /** What the small encode may send, kbit/s. */
  get rateKbps(): number {
    return Math.round(this.#rateKbps);
  }

  /** Kbit/s; null before it was measured. */
  get capacityKbps(): number | null {
    return this.#capacityKbps === null ? null : Math.round(this.#capacityKbps);
  }

  /**
   * @param needKbps what a path must carry for the main encode
   * @param probes whether the viewer reports arrivals at the moment, so that a probe can show what the path carries
   */
  update(now: number, path: PathState, needKbps: number, probes: boolean): void {
    if (path.capacityKbps !== null) this.#learn(path.capacityKbps, now);
    const lossy = (path.loss ?? 0) > LIMITS.loss;
    if (this.#encode === 'main') this.#watchMain(now, path, needKbps, lossy);
    else this.#adaptSmall(now, path, lossy, probes);
  }

  /** The rate of the probe that is due, kbit/s; null for none. */
  probe(now: number, needKbps: number): number | null {
    if (this.#encode !== 'small' || now < this.#probeAt) return null;
    this.#probeAt = now + this.#retryMs; // until it is answered
    const from = Math.max(this.#provenKbps, this.#rateKbps);
    return Math.min(needKbps * 1.1, from * LIMITS.probeGrowth);
  }

  /** A probe of `offeredKbps` arrived at `kbps`. */
  probed(now: number, kbps: number, offeredKbps: number, needKbps: number): void {
    if (this.#encode !== 'small') return;
    this.#learn(kbps, now);
    if (kbps >= needKbps) this.#change('main', now);
    else if (kbps > offeredKbps * 0.85) {
      this.#provenKbps = kbps;
      this.#probeAt = now + LIMITS.probeGapMs;
    } else this.#later(now);
  }

  #watchMain(now: number, path: PathState, needKbps: number, lossy: boolean): void {
    const thin = path.capacityKbps !== null && path.capacityKbps < needKbps;
    if (!thin && path.congestedMs <= LIMITS.patienceMs && !lossy) return;
    const carried = path.capacityKbps ?? path.arrivalKbps ?? SMALL_KBPS.max;
    this.#setRate(carried * LIMITS.share, now);
    const onTrial = now - this.#changedAt < LIMITS.trialMs;
    if (!onTrial) this.#retryMs = LIMITS.firstRetryMs;
    this.#change('small', now);
    this.#later(now);
  }

  #adaptSmall(now: number, path: PathState, lossy: boolean, probes: boolean): void {
    if (path.congestedMs > LIMITS.standingMs || lossy) {
      this.#congestedAt = now;
      this.#provenKbps = 0;
      if (now - this.#steppedAt >= LIMITS.stepMs)
        this.#setRate(
          Math.min(path.capacityKbps ?? path.arrivalKbps ?? Infinity, this.#rateKbps) * LIMITS.share,
          now,
        );
      this.#probeAt = Math.max(this.#probeAt, now + LIMITS.settleMs);
      return;
    }
    const clear = now - this.#congestedAt >= LIMITS.stepMs && now - this.#steppedAt >= LIMITS.stepMs;
    if (clear && path.congestedMs === 0) this.#setRate(this.#grown(now), now);
    // Nothing tells what the path carries: the main encode itself is the probe.
    if (!probes && now >= this.#probeAt) this.#change('main', now);
  }

  #learn(kbps: number, now: number): void {
    this.#capacityKbps = kbps;
    this.#capacityAt = now;
  }

  #grown(now: number): number {
    const known = now - this.#capacityAt < LIMITS.memoryMs ? (this.#capacityKbps ?? Infinity) : Infinity;
    return Math.max(this.#rateKbps, Math.min(this.#rateKbps * LIMITS.growth, known * 0.9));
  }

  #setRate(kbps: number, now: number): void {
    this.#rateKbps = Math.min(SMALL_KBPS.max, Math.max(SMALL_KBPS.min, kbps));
    this.#steppedAt = now;
  }

  #change(encode: Encode, now: number): void {
    this.#encode = encode;
    this.#changedAt = now;
    this.#provenKbps = 0;
  }

  /** The next try, with a pause that grows while tries fail. */
  #later(now: number): void {
    this.#probeAt = now + this.#retryMs;
    this.#retryMs = Math.min(LIMITS.longestRetryMs, this.#retryMs * 2);
    this.#provenKbps = 0;
  }
}
