import { LOG_DATA_BYTES, type LogData } from '../../../shared/mavlink/decode-logs.ts';

/** A gap that begins so soon behind the last one is requested with it: the bytes between cost less than a second request. */
const NEAR_BYTES = 8 * LOG_DATA_BYTES;

/** A part of a log, [start, end). */
export interface Gap {
  readonly start: number;
  readonly end: number;
}

/**
 * A part of a log that is being received. LOG_DATA says how many bytes it brings, at most 90 and often fewer; they come in any
 * order, twice, or not at all. What lies outside of this part (another ground station's download) is left out.
 */
export class LogWindow {
  readonly start: number;
  readonly #bytes: Buffer;
  /** 1 for each byte that came. */
  readonly #here: Uint8Array;
  #end: number;
  #missing: number;

  constructor(start: number, end: number) {
    this.start = start;
    this.#end = end;
    this.#bytes = Buffer.alloc(end - start);
    this.#here = new Uint8Array(end - start);
    this.#missing = end - start;
  }

  get complete(): boolean {
    return this.#missing === 0;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end - this.start);
  }

  /** @returns whether it brought something */
  add({ offset, data }: Pick<LogData, 'offset' | 'data'>): boolean {
    const before = this.#missing;
    const end = Math.min(this.#end, offset + data.length);
    for (let at = Math.max(this.start, offset); at < end; at++) {
      const index = at - this.start;
      if (this.#here[index] === 1) continue;
      this.#here[index] = 1;
      this.#bytes[index] = data[at - offset] ?? 0;
      this.#missing--;
    }
    return this.#missing < before;
  }

  /** The log ends here: nothing of what follows is missing. */
  cut(end: number): void {
    if (end >= this.#end) return;
    const kept = this.#here.subarray(0, Math.max(0, end - this.start));
    this.#end = Math.max(this.start, end);
    this.#missing = kept.reduce((missing, here) => missing + 1 - here, 0);
  }

  /** What to request next: the first gap, and those close behind it; null if nothing is missing. */
  gap(): Gap | null {
    const here = this.#here.subarray(0, this.#end - this.start);
    const first = here.indexOf(0);
    if (first === -1) return null;
    let last = first;
    for (let at = first + 1; at < here.length && at - last <= NEAR_BYTES; at++) if (here[at] === 0) last = at;
    return { start: this.start + first, end: this.start + last + 1 };
  }
}
