import type { Batch } from '../../../../shared/schemas/vision.ts';

/** How far a batch may be from the picture that it is drawn over. */
const NEAR_MS = 1000;
const KEEP_MS = 12_000;
const MAX_KEPT = 600;

interface TimedBatch {
  readonly batch: Batch;
  /** How much later it came than it was made, by two clocks: their difference, and the way here. */
  readonly ahead: number;
  readonly cameAt: number;
}

/**
 * The batches of the last seconds, and which of them belong to a picture. Times are of the page's clock, which need not be the
 * node's: the batch that came quickest tells how far they are apart.
 */
export class DetectionTrack {
  #kept: TimedBatch[] = [];

  /** @param now Unix time of the page, ms */
  add(batch: Batch, now: number): void {
    const ahead = now - batch.ts_ms - (batch.latency_ms ?? 0);
    this.#kept = [
      ...this.#kept.filter(({ cameAt }) => now - cameAt < KEEP_MS).slice(1 - MAX_KEPT),
      { batch, ahead, cameAt: now },
    ];
  }

  /**
   * The batches to be drawn, one of each source.
   * @param takenAt when the shown picture was taken; null: not known, then the newest are of it
   */
  at(takenAt: number | null, now: number): readonly Batch[] {
    // The first may have waited at the node: alone it says nothing of its time.
    if (this.#kept.length < 2) return [];
    const ahead = Math.min(...this.#kept.map((kept) => kept.ahead));
    const wanted = (takenAt ?? now) - ahead;
    const nearest = new Map<string, Batch>();
    for (const { batch } of this.#kept) {
      if (Math.abs(wanted - batch.ts_ms) > NEAR_MS) continue;
      const best = nearest.get(batch.source);
      if (best === undefined || Math.abs(wanted - batch.ts_ms) <= Math.abs(wanted - best.ts_ms))
        nearest.set(batch.source, batch);
    }
    return [...nearest.values()];
  }
}
