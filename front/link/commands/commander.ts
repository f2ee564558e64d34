import type { Armed } from '../../../shared/flight/armed.ts';
import type { Clock } from '../clock.ts';

/** Who commands a vehicle that is not armed yet may be the one who flies it. */
const BEFORE_ARMING_MS = 60_000;

/** Who has sent the newest command, set-point or stick that was taken, as svc-control names them: of this flight, or just before it. */
export class Commander {
  readonly #clock: Clock;
  #name: string | null = null;
  #at = 0;
  #wasArmed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param name undefined: nobody says */
  tell(name: string | undefined): void {
    if (name === undefined) return;
    this.#name = name;
    this.#at = this.#clock.now();
  }

  /** @param armed as the vehicle says. Asked at least once a second */
  name(armed: Armed): string | null {
    const isOver = armed === false && this.#wasArmed;
    const isOld = armed !== true && !this.#wasArmed && this.#clock.now() - this.#at > BEFORE_ARMING_MS;
    if (isOver || isOld) this.#name = null;
    if (armed !== 'unknown') this.#wasArmed = armed;
    return this.#name;
  }
}
