/** A change of the wall clock that is no drift: a Pi has no clock of its own, and gets the time minutes after its start. */
interface ClockStep {
  /** RFC 3339: what the clock would say without the step. */
  readonly from: string;
  /** RFC 3339. */
  readonly to: string;
  readonly step_ms: number;
}

/** NTP slews by half a millisecond a second; more than this at once is a step. */
const STEP_MS = 500;

/** Finds steps of the wall clock by comparing it with the monotonic one. */
export class ClockWatch {
  readonly #wall: () => number;
  readonly #steady: () => number;
  readonly #onStep: (step: ClockStep) => void;
  #offset: number;

  /** @param wall Unix time, ms @param steady monotonic, ms @param onStep if it throws, it is told again at the next check */
  constructor(wall: () => number, steady: () => number, onStep: (step: ClockStep) => void) {
    this.#wall = wall;
    this.#steady = steady;
    this.#onStep = onStep;
    this.#offset = wall() - steady();
  }

  /** Call it about once a second. */
  check(): void {
    const now = this.#wall();
    const offset = now - this.#steady();
    const step = Math.round(offset - this.#offset);
    if (Math.abs(step) >= STEP_MS)
      this.#onStep({
        from: new Date(now - step).toISOString(),
        to: new Date(now).toISOString(),
        step_ms: step,
      });
    this.#offset = offset;
  }
}
