import type { AccessUnit } from '../../../shared/media/picture.ts';
import { Meter } from '../engine/meter.ts';

/** Of the measured rate: repairs and other traffic need a place too. */
const HEADROOM = 1.2;
/** A key frame may take so long on its way: the pictures after it wait for it, and a gap of 183 ms counts as a freeze. */
const KEY_MS = 120;

/** What a path must carry so that the main encode can be watched on it, measured from the encode itself. */
export class MainNeed {
  readonly #meter = new Meter();
  #keyBytes = 0;

  push({ at, data, key }: AccessUnit): void {
    this.#meter.add(at, data.length);
    if (key) this.#keyBytes = data.length;
  }

  /** @param at CLOCK_MONOTONIC, microseconds. @returns kbit/s; 0 before anything was measured */
  kbps(at: number): number {
    return Math.max((this.#meter.read(at)?.kbps ?? 0) * HEADROOM, (this.#keyBytes * 8) / KEY_MS);
  }
}
