import { isAutopilot, isSure, MAIN_COMPONENT } from '../../../shared/mavlink/autopilot-heartbeat.ts';
import type { Heartbeat } from '../../../shared/mavlink/decode.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';

/** In this time after the first one was taken a better one takes its place: whoever spoke first is an accident. */
const WINDOW_MS = 3000;
/** An autopilot that says nothing of its firmware is taken where nothing better was heard for this long. */
const GENERIC_MS = 5000;
/** After so long a silence, and disarmed by its last word, ours is not there any more. */
const GONE_MS = 30_000;

/** A vehicle as it is kept over a restart. */
interface ChosenVehicle extends Target {
  /** MAV_AUTOPILOT, MAV_TYPE */
  readonly autopilot: number;
  readonly type: number;
}

/** The same with its last word. */
export interface KeptVehicle extends ChosenVehicle {
  readonly armed: boolean;
}

interface ChoiceOptions {
  readonly clock: Clock;
  /** The system that the configuration names (`mavlink.system`); null: the first that is heard. */
  readonly system: number | null;
  /** Chosen before this process began. */
  readonly former: KeptVehicle | null;
  /** Whether a system was armed by its last word. */
  readonly lastWord: (system: number) => boolean;
}

/**
 * Which of the systems on the link is the vehicle (docs/contract/flight.md): the first autopilot, and from then on that one. A better one
 * replaces it only in the first 3 s, before anybody has commanded and while it is disarmed; another one only when ours was disarmed by
 * its last word and silent for 30 s.
 */
export class Choice {
  readonly #options: ChoiceOptions;
  #chosen: ChosenVehicle | null;
  #chosenAt: number;
  /** When the chosen one was heard last; while it was not, when it could be first. */
  #heardAt: number;
  #commanded = false;
  /** It was armed by its last word to the process before this one. */
  #wasArmed: boolean;
  /** When the first autopilot without a firmware was heard, and the newest with one. */
  #genericAt: number | null = null;
  #sureAt = -Infinity;

  constructor(options: ChoiceOptions) {
    this.#options = options;
    const { system, former, clock } = options;
    this.#chosen = system === null || former?.system === system ? former : null;
    this.#wasArmed = former?.armed === true;
    this.#chosenAt = -Infinity;
    this.#heardAt = clock.now();
  }

  /** Null before the first candidate. It may not have been heard by this process. */
  get chosen(): ChosenVehicle | null {
    return this.#chosen;
  }

  /** Somebody has commanded it: from now on no better one takes its place. */
  commanded(): void {
    if (this.#chosen !== null) this.#commanded = true;
  }

  /** A frame of the chosen one has come. */
  heard(): void {
    this.#heardAt = this.#options.clock.now();
    this.#wasArmed = false;
  }

  /** @returns whether this heartbeat is the vehicle's; `chosen` may be another one afterwards */
  takes(system: number, component: number, heartbeat: Heartbeat): boolean {
    const { clock, system: wanted } = this.#options;
    if (!isAutopilot(heartbeat, component)) return false;
    if (wanted !== null && system !== wanted) return false;
    const chosen = this.#chosen;
    const now = clock.now();
    const sure = isSure(heartbeat);
    if (sure) this.#sureAt = now;
    else this.#genericAt ??= now;
    const candidate = { system, component, autopilot: heartbeat.autopilot, type: heartbeat.type };
    if (chosen?.system === system && chosen.component === component) {
      this.#chosen = candidate;
      return true;
    }
    const waits = now - Math.max(this.#sureAt, this.#genericAt ?? now) < GENERIC_MS;
    if (!sure && waits) return false;
    if (chosen !== null && !this.#mayReplace(chosen, candidate, now)) return false;
    this.#chosen = candidate;
    this.#chosenAt = now;
    this.#commanded = false;
    return true;
  }

  #mayReplace(chosen: ChosenVehicle, candidate: ChosenVehicle, now: number): boolean {
    const { lastWord } = this.#options;
    if (this.#wasArmed || lastWord(chosen.system)) return false;
    if (now - this.#heardAt >= GONE_MS) return true;
    const isEarly = now - this.#chosenAt <= WINDOW_MS && !this.#commanded && !lastWord(candidate.system);
    return isEarly && rank(candidate) > rank(chosen);
  }
}

/** The main component of a firmware that says its name is best. */
function rank({ autopilot, component }: ChosenVehicle): number {
  return (autopilot === 0 ? 0 : 2) + (component === MAIN_COMPONENT ? 1 : 0);
}
