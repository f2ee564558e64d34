import { isOneOf } from '../member.ts';
import type { CommandName } from './command-catalogue.ts';
import { metresBetween, type Place, type SeenVehicle } from './seen.ts';

/** When a command that moves the aircraft has done what it was sent for, and when it will not any more. */

/** How it ends, as far as the vehicle itself decides it. */
export type GoalEnd = 'reached' | 'disarmed' | 'mode_changed';

export interface Goal {
  /** What happens meanwhile, for the progress. */
  readonly doing: string;
  /** Where it goes to, for the last state line. */
  readonly place?: Place | null;
  /** @param ms since the command was accepted @returns null to go on */
  readonly judge: (seen: SeenVehicle, ms: number) => GoalEnd | null;
}

/** The commands that take their time. */
export const GOAL_NAMES = ['takeoff', 'goto', 'land', 'rtl'] as const satisfies readonly CommandName[];
export type GoalName = (typeof GOAL_NAMES)[number];

export function isGoalName(name: CommandName): name is GoalName {
  return isOneOf(GOAL_NAMES, name);
}

const FIXED_WING = 1;
/** MAV_TYPE of rovers and boats: they return, and neither climb nor land. */
const ON_SURFACE: ReadonlySet<number | null> = new Set([10, 11]);
/** Heartbeats come once a second: what was commanded shows after that, and older news is over. */
export const SETTLED_MS = 3000;
/** A mode may change on the way to the goal (PX4 holds at the end of a take-off): one that stays is another will. */
const FOREIGN_MS = 3000;
/** Some vehicles stay armed on the ground. */
const ON_GROUND_MS = 15_000;
/** A fixed wing circles around its goal. */
const NEAR_M = 3;
const CIRCLE_M = 150;
const LEVEL_M = 2;

/** @param before the mode in which the command was sent; null if it is not known */
export function goalOf(name: GoalName, args: readonly number[], before: string | null): Goal {
  const [first = 0, second = 0, third = 0] = args;
  switch (name) {
    case 'takeoff': {
      let climbs = false;
      const modes = new Modes(before, TAKE_OFF_MODES);
      return flying(`climbing to ${first} m`, null, modes, ({ altitude, mode }) => {
        const margin = Math.min(2, Math.max(0.5, first / 10));
        climbs ||= mode === PX4_CLIMBS;
        // PX4 ends a take-off some metres below its height, and climbs the rest as it holds.
        if (climbs && mode === PX4_HOLDS && altitude !== null && altitude >= first - HELD_M) return true;
        return altitude !== null && altitude >= first - margin;
      });
    }
    case 'goto': {
      const place = { lat: first, lon: second };
      return flying('on its way', place, new Modes(before), (seen) => {
        const level =
          ON_SURFACE.has(seen.type) || (seen.altitude !== null && Math.abs(seen.altitude - third) <= LEVEL_M);
        return level && isNear(seen, place);
      });
    }
    case 'land':
      return coming('landing', before, () => false);
    case 'rtl':
      return coming('returning', before, (seen) => {
        const stays = ON_SURFACE.has(seen.type) || seen.type === FIXED_WING;
        return stays && seen.home !== null && isNear(seen, seen.home);
      });
  }
}

/** To be somewhere; on the ground with stopped motors it will not be. */
function flying(
  doing: string,
  place: Place | null,
  modes: Modes,
  there: (seen: SeenVehicle) => boolean,
): Goal {
  const isDisarmed = disarmed();
  return {
    doing,
    place,
    judge: (seen, ms) => {
      if (isDisarmed(seen, ms)) return 'disarmed';
      if (there(seen)) return 'reached';
      return modes.isForeign(seen.mode, ms) ? 'mode_changed' : null;
    },
  };
}

/** To come down, or back for those that do not land. */
function coming(doing: string, before: string | null, back: (seen: SeenVehicle) => boolean): Goal {
  const modes = new Modes(before);
  const isDisarmed = disarmed();
  let groundAt: number | null = null;
  let stoppedAt: number | null = null;
  return {
    doing,
    judge: (seen, ms) => {
      const onGround = seen.landed === 'on_ground';
      const lies = onGround && !ON_SURFACE.has(seen.type);
      groundAt = lies ? (groundAt ?? ms) : null;
      const rests = groundAt !== null && ms - groundAt >= ON_GROUND_MS;
      stoppedAt = isDisarmed(seen, ms) ? (stoppedAt ?? ms) : null;
      // The two come in messages of their own, and the last line is not to say "disarmed, in air".
      const stopped =
        stoppedAt !== null && (onGround || seen.landed === null || ms - stoppedAt >= SETTLED_MS);
      if (stopped || rests || (ms >= SETTLED_MS && back(seen))) return 'reached';
      return modes.isForeign(seen.mode, ms) ? 'mode_changed' : null;
    },
  };
}

/** Whether the motors have stopped; what was heard before the arming is not believed. */
export function disarmed(): (seen: SeenVehicle, ms: number) => boolean {
  let wasArmed = false;
  return ({ armed }, ms) => {
    wasArmed ||= armed === true;
    return armed === false && (wasArmed || ms >= SETTLED_MS);
  };
}

function isNear({ place, type }: SeenVehicle, goal: Place): boolean {
  return place !== null && metresBetween(place, goal) <= (type === FIXED_WING ? CIRCLE_M : NEAR_M);
}

/** Modes of PX4. */
const PX4_CLIMBS = 'AUTO.TAKEOFF';
const PX4_HOLDS = 'AUTO.LOITER';
const HELD_M = 2.5;
/** In which a take-off climbs: one that arms before may come to it by another mode, in which the vehicle can arm. */
const TAKE_OFF_MODES: ReadonlySet<string> = new Set([PX4_CLIMBS, 'TAKEOFF', 'GUIDED']);

/** Tells the mode that the command brought from one that somebody else chose. */
export class Modes {
  readonly #brought: ReadonlySet<string>;
  #own: string | null;
  #settled = false;
  #foreignAt: number | null = null;

  /** @param brought those that are the command's own, whenever they come */
  constructor(before: string | null, brought: ReadonlySet<string> = new Set()) {
    this.#own = before;
    this.#brought = brought;
  }

  /** @param ms since the command was accepted */
  isForeign(mode: string | null, ms: number): boolean {
    this.#own ??= mode;
    if (mode === null || mode === this.#own) {
      this.#foreignAt = null;
      return false;
    }
    if ((!this.#settled && ms < SETTLED_MS) || this.#brought.has(mode)) {
      this.#own = mode;
      this.#settled = true;
      this.#foreignAt = null;
      return false;
    }
    this.#foreignAt ??= ms;
    return ms - this.#foreignAt >= FOREIGN_MS;
  }
}
