import { tellAll } from '../../../shared/async/tell.ts';
import type { Batch } from '../../../shared/schemas/vision.ts';

/** Boxes that are older than this are nowhere near the thing that they were drawn around. */
const FRESH_MS = 2000;

/** The detections of the node, whoever has made them: svc-vision, or an extension. */
export class DetectionFeed {
  readonly #listeners = new Set<(batch: Batch) => void>();
  readonly #now: () => number;
  /** By source, the newest last. */
  readonly #newest = new Map<string, { readonly batch: Batch; readonly at: number }>();

  /** @param now monotonic, ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param batch already checked. A listener that throws does not keep it from the others */
  publish(batch: Batch): void {
    this.#newest.delete(batch.source);
    this.#newest.set(batch.source, { batch, at: this.#now() });
    tellAll('the detections', this.#listeners, batch);
  }

  /** Its source is gone: nobody knows what is there now. */
  forget(source: string): void {
    this.#newest.delete(source);
  }

  /** The newest batch, of one source or of all; null if it came more than 2 s ago. */
  latest(source?: string): Batch | null {
    const newest = source === undefined ? [...this.#newest.values()].at(-1) : this.#newest.get(source);
    return newest === undefined || this.#now() - newest.at > FRESH_MS ? null : newest.batch;
  }

  /** @returns how to unsubscribe */
  subscribe(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
