import { LOG_DATA_BYTES, type LogData } from '../../../shared/mavlink/decode-logs.ts';

/** A gap that begins so few blocks after the last one is requested with it: the blocks between cost less than a second request. */
const NEAR_BLOCKS = 8;

/** A part of a log, [start, end). */
export interface Gap {
  readonly start: number;
  readonly end: number;
}

/**
 * A part of a log that is being received, in blocks of 90 bytes as LOG_DATA has them. Blocks come in any order, twice, or not
 * at all; what is no whole block of this part (another ground station's download) is left out.
 */
export class LogWindow {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
  readonly #here: Uint8Array;
  #missing: number;

  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
    this.bytes = Buffer.alloc(end - start);
    this.#missing = Math.ceil((end - start) / LOG_DATA_BYTES);
    this.#here = new Uint8Array(this.#missing);
  }

  get complete(): boolean {
    return this.#missing === 0;
  }

  /** @returns whether it brought something */
  add({ offset, data }: Pick<LogData, 'offset' | 'data'>): boolean {
    const at = offset - this.start;
    const block = at / LOG_DATA_BYTES;
    if (at < 0 || !Number.isInteger(block) || block >= this.#here.length || this.#here[block] === 1)
      return false;
    const length = Math.min(LOG_DATA_BYTES, this.end - offset);
    if (data.length < length) return false;
    data.copy(this.bytes, at, 0, length);
    this.#here[block] = 1;
    this.#missing--;
    return true;
  }

  /** What to request next: the first gap, and those close behind it; null if nothing is missing. */
  gap(): Gap | null {
    const first = this.#here.indexOf(0);
    if (first === -1) return null;
    let last = first;
    for (let block = first + 1; block < this.#here.length && block - last <= NEAR_BLOCKS; block++) {
      if (this.#here[block] === 0) last = block;
    }
    return {
      start: this.start + first * LOG_DATA_BYTES,
      end: Math.min(this.end, this.start + (last + 1) * LOG_DATA_BYTES),
    };
  }
}
