/** A time that is further from the one before is one of bytes that only look like a message, s. */
const MAX_STEP_S = 3600;
/** Rows whose times say where a log begins that does not say so itself. */
const ROWS = 16;

/** Tells the times of a log from those of bytes that are none; two wrong ones that agree are a clock that was set. */
export class LogClock {
  readonly #start: number;
  #before: number | null;
  #doubted: number | null = null;

  /** @param start where the log says that it begins, s: rows of before are of that moment. @param near a time of its first rows */
  constructor(start: number | null = null, near = start) {
    this.#start = start ?? Number.NEGATIVE_INFINITY;
    this.#before = near;
  }

  /** One that goes by what most of the first rows say. @param rows tells the time of one after the other until it is answered false */
  static of(rows: (onTime: (at: number) => boolean) => void): LogClock {
    const times: number[] = [];
    rows((at) => {
      if (Number.isFinite(at)) times.push(at);
      return times.length < ROWS;
    });
    return new LogClock(null, times.toSorted((a, b) => a - b)[times.length >> 1] ?? null);
  }

  /** @returns the time on the log's axis, s; null: it is none */
  timeOf(told: number): number | null {
    if (!Number.isFinite(told)) return null;
    const at = Math.max(told, this.#start);
    const isNear = (other: number | null): boolean => other !== null && Math.abs(at - other) <= MAX_STEP_S;
    if (this.#before !== null && !isNear(this.#before) && !isNear(this.#doubted)) {
      this.#doubted = at;
      return null;
    }
    this.#before = at;
    this.#doubted = null;
    return at;
  }
}
