const FIRST_MS = 500;
const LEAST_MS = 60;
const MOST_MS = 6000;
/** So many questions in a row are lost on a link that loses a third of them. */
const LOST = 3;
/** Round trips vary more than those seen: a link that has just begun, or that shares its air. */
const MOST_DOUBLINGS = 6;

/**
 * How long to wait for an answer before asking again: from the round trips seen, as TCP does (RFC 6298). A fixed second would
 * make 700 items at 20 % loss take minutes on a link that answers in 5 ms, and ask everything three times on one that needs 3 s.
 *
 * What was asked twice shows no round trip: it is not known which one was answered. So the wait that was doubled stays doubled for
 * the next question (5.5 to 5.7): else a link slower than the first wait would never be learned.
 */
export class RetryTime {
  #mean: number | null = null;
  #deviation = 0;
  #doublings = 0;

  /** @param ms a round trip of what was asked once */
  seen(ms: number): void {
    this.#doublings = 0;
    if (this.#mean === null) {
      this.#mean = ms;
      this.#deviation = ms / 2;
      return;
    }
    this.#deviation = 0.75 * this.#deviation + 0.25 * Math.abs(this.#mean - ms);
    this.#mean = 0.875 * this.#mean + 0.125 * ms;
  }

  /**
   * Nothing came in time.
   * @param tries how often it was asked without an answer; where round trips are known, a few are loss, not delay
   */
  late(tries: number): void {
    if (this.#mean !== null && tries <= LOST) return;
    this.#doublings = Math.min(MOST_DOUBLINGS, this.#doublings + 1);
  }

  /** ms that a round trip takes; while none was seen, the wait. */
  get roundTrip(): number {
    return this.#mean ?? this.wait;
  }

  /** ms until the question is asked again. */
  get wait(): number {
    const base = this.#mean === null ? FIRST_MS : this.#mean + 4 * this.#deviation;
    return Math.min(MOST_MS, Math.max(LEAST_MS, base) * 2 ** this.#doublings);
  }
}
