/** Follows a value that is told a few times a second so that the picture moves at its own rate, without jerks. */
export class Smooth {
  readonly #isAngle: boolean;
  /** Of the critically damped spring, 1/s. */
  readonly #pull: number;
  #value = 0;
  #speed = 0;
  #told = 0;
  #toldSpeed = 0;
  #toldAt = 0;
  #at = 0;
  #isKnown = false;

  /** @param lagS how far it trails behind a value that changes steadily and comes without a speed */
  constructor(lagS: number, isAngle = false) {
    this.#pull = 2 / lagS;
    this.#isAngle = isAngle;
  }

  get value(): number {
    return this.#value;
  }

  /** @param speed per second, 0 if it is not known. @param at seconds */
  tell(value: number, speed: number, at: number): void {
    if (!Number.isFinite(value)) return;
    this.#told = value;
    this.#toldSpeed = Number.isFinite(speed) ? speed : 0;
    this.#toldAt = at;
    if (this.#isKnown && Math.abs(this.#away(value)) < JUMP) return;
    this.#isKnown = true;
    this.#value = value;
    this.#speed = this.#toldSpeed;
    this.#at = at;
  }

  /** Moves on to this time, seconds. */
  step(at: number): void {
    const age = Math.max(0, Math.min(LONGEST_S, at - this.#toldAt));
    const goal = this.#told + this.#toldSpeed * age;
    const isFresh = age < LONGEST_S;
    let left = Math.max(0, Math.min(1, at - this.#at));
    this.#at = at;
    // In small steps: the spring is stiff.
    while (left > 1e-6) {
      const dt = Math.min(left, STEP_S);
      left -= dt;
      const wanted = isFresh ? this.#toldSpeed : 0;
      const force = this.#pull * this.#pull * this.#away(goal) + 2 * this.#pull * (wanted - this.#speed);
      this.#speed += force * dt;
      this.#value += this.#speed * dt;
    }
  }

  #away(goal: number): number {
    const away = goal - this.#value;
    return this.#isAngle ? away - 2 * Math.PI * Math.round(away / (2 * Math.PI)) : away;
  }
}

/** What is told further away is another place, not a movement: it is there at once. */
const JUMP = 60;
/** A value is carried on by its speed for so long. */
const LONGEST_S = 1;
const STEP_S = 0.01;
