/** A time that is further from the one before is one of bytes that only look like a message, s. */
const MAX_STEP_S = 3600;

/** Tells the times of a log from those of bytes that are none; two wrong ones are taken for a jump of the clock. */
export class LogClock {
  #before: number | null = null;

  isTime(at: number): boolean {
    if (!Number.isFinite(at)) return false;
    const isNear = this.#before === null || Math.abs(at - this.#before) <= MAX_STEP_S;
    this.#before = at;
    return isNear;
  }
}
