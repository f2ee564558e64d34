const FIRST_MS = 500;
const LEAST_MS = 60;
const MOST_MS = 1500;
/** A vehicle that does not answer so many times may be busy: the waits grow from here on. */
const PATIENT_AFTER = 3;

/**
 * How long to wait for an answer before asking again: from the round trips seen, as TCP does (RFC 6298). A fixed second would
 * make 700 items at 20 % loss take minutes on a link that answers in 5 ms.
 */
export class RetryTime {
  #mean: number | null = null;
  #deviation = 0;

  /** @param ms a round trip of what was asked once; of what was asked twice it is not known which one was answered */
  seen(ms: number): void {
    if (this.#mean === null) {
      this.#mean = ms;
      this.#deviation = ms / 2;
      return;
    }
    this.#deviation = 0.75 * this.#deviation + 0.25 * Math.abs(this.#mean - ms);
    this.#mean = 0.875 * this.#mean + 0.125 * ms;
  }

  /** @param tries how often it was asked already without an answer */
  wait(tries: number): number {
    const base = this.#mean === null ? FIRST_MS : this.#mean + 4 * this.#deviation;
    const grown = Math.max(LEAST_MS, base) * 1.5 ** Math.max(0, tries - PATIENT_AFTER);
    return Math.min(MOST_MS, grown);
  }
}
