import { messageOf } from '../../../shared/errors.ts';
import type { Batch } from '../../../shared/schemas/vision.ts';

/** Boxes that are older than this are nowhere near the thing that they were drawn around. */
const FRESH_MS = 2000;

/** The detections of the node, whoever has made them: svc-vision, or an extension. */
export class DetectionFeed {
  readonly #listeners = new Set<(batch: Batch) => void>();
  readonly #now: () => number;
  #newest: { readonly batch: Batch; readonly at: number } | null = null;

  /** @param now monotonic, ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param batch already checked. A listener that throws does not keep it from the others */
  publish(batch: Batch): void {
    this.#newest = { batch, at: this.#now() };
    for (const listener of this.#listeners) {
      try {
        listener(batch);
      } catch (error) {
        process.emitWarning(`detections: ${messageOf(error)}`);
      }
    }
  }

  /** The newest batch; null if it came more than 2 s ago. */
  latest(): Batch | null {
    if (this.#newest === null || this.#now() - this.#newest.at > FRESH_MS) return null;
    return this.#newest.batch;
  }

  /** @returns how to unsubscribe */
  subscribe(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
