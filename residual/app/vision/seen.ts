import type { Batch, Detection } from '../../../shared/schemas/vision.ts';

/** A class that was gone for so long is new again. */
const GONE_MS = 10_000;
/** Between two events, of whatever classes. */
const PAUSE_MS = 1000;
/** An extension may name what it likes. */
const MAX_CLASSES = 256;

export interface SeenObject {
  readonly class_label: string;
  readonly confidence: number;
  readonly track_id: number | null;
  readonly source: string;
}

/** Tells when something comes into view that was not there. */
export class SeenEvents {
  readonly #now: () => number;
  readonly #tell: (seen: SeenObject) => void;
  /** When each class was last there; the longest ago first. */
  readonly #last = new Map<string, number>();
  #toldAt = -Infinity;

  /** @param now monotonic, ms */
  constructor(now: () => number, tell: (seen: SeenObject) => void) {
    this.#now = now;
    this.#tell = tell;
  }

  heard({ source, detections }: Batch): void {
    const now = this.#now();
    for (const detection of detections) {
      if (isGuess(detection)) continue;
      const { class_label, confidence, track_id } = detection;
      const last = this.#last.get(class_label) ?? -Infinity;
      if (now - last > GONE_MS) {
        // Too soon after another one: told with a later picture, if it is still there.
        if (now - this.#toldAt < PAUSE_MS) continue;
        this.#toldAt = now;
        this.#tell({ class_label, confidence, track_id, source });
      }
      this.#last.delete(class_label);
      this.#last.set(class_label, now);
    }
    for (const label of this.#last.keys()) {
      if (this.#last.size <= MAX_CLASSES) break;
      this.#last.delete(label);
    }
  }
}

/** It was not in this picture: its place is where the tracker thinks it is. */
function isGuess({ lock_state: lock }: Detection): boolean {
  return lock === 'uncertain' || lock === 'lost';
}
