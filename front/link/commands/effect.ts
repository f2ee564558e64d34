import { type Family, modeNumber } from '../../../shared/flight/modes.ts';
import type { Clock } from '../clock.ts';
import { lookUntil } from './look-until.ts';

// MAV_CMD
const NAV_RETURN_TO_LAUNCH = 20;
const NAV_LAND = 21;
const NAV_TAKEOFF = 22;
const DO_ORBIT = 34;
export const DO_SET_MODE = 176;
const DO_REPOSITION = 192;
const MISSION_START = 300;

/** Two of PX4's heartbeats come within this, one of which may be lost. */
const SHOWN_MS = 2500;
/** PX4's navigator looks at a place after its commander has acknowledged it; a radio delays its words. */
const WORDS_MS = 400;
const LOOK_MS = 20;

interface Effect {
  /** The flight mode that it leads to; null: the one that was asked for. */
  readonly mode: string | null;
  /** The mode does not tell whether the place was taken: the navigator refuses it in words alone. */
  readonly byWords: boolean;
}

/**
 * What a command of a course leads to on PX4. Its commander answers ACCEPTED when it has noted the wish
 * (Commander::handle_command, UserModeIntention::change); in a failsafe the vehicle stays in another mode all the same, and a
 * place outside of the geofence is refused in words only (Navigator::run, "Reposition is outside geofence").
 */
const PX4_EFFECTS: ReadonlyMap<number, Effect> = new Map([
  [DO_SET_MODE, { mode: null, byWords: false }],
  [NAV_RETURN_TO_LAUNCH, { mode: 'AUTO.RTL', byWords: false }],
  [NAV_LAND, { mode: 'AUTO.LAND', byWords: false }],
  [NAV_TAKEOFF, { mode: 'AUTO.TAKEOFF', byWords: false }],
  [DO_ORBIT, { mode: 'POSCTL.ORBIT', byWords: true }],
  [DO_REPOSITION, { mode: 'AUTO.LOITER', byWords: true }],
  [MISSION_START, { mode: 'AUTO.MISSION', byWords: false }],
]);

/** What became of an acknowledged command. */
export type EffectOutcome = 'shown' | 'refused' | 'unconfirmed';

/** What of the vehicle is looked at. */
export interface Evidence {
  readonly family: Family | null;
  /** HEARTBEAT.custom_mode */
  readonly customMode: () => number | null;
  /** Its newest error text or event since the command was begun. */
  readonly objection: () => string | null;
  /** Another sign that it does it. */
  readonly shows: (() => boolean) | undefined;
}

/** @returns whether the state of this vehicle counts for the command, and not its ack */
export function countsByState(family: Family | null, command: number): boolean {
  return family === 'px4' && PX4_EFFECTS.has(command);
}

/**
 * Waits until the state of the vehicle tells what became of a command that it has acknowledged: at most 2.5 s.
 * @param deadline on the clock, ms
 */
export async function seeEffect(
  clock: Clock,
  command: number,
  { family, customMode, objection, shows }: Evidence,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
): Promise<EffectOutcome> {
  const effect = family === 'px4' ? PX4_EFFECTS.get(command) : undefined;
  if (effect === undefined) return 'shown';
  const number = effect.mode === null ? null : modeNumber('px4', effect.mode);
  const isThere = (): boolean => shows?.() === true || (number !== null && customMode() === number);
  const look = { everyMs: LOOK_MS, signal };
  const hasWords = (): boolean => objection() !== null;
  if (effect.byWords) {
    const until = Math.min(clock.now() + WORDS_MS, deadline);
    if (await lookUntil(clock, hasWords, { ...look, until })) return 'refused';
  }
  const until = Math.min(clock.now() + SHOWN_MS, deadline);
  if (await lookUntil(clock, isThere, { ...look, until })) return 'shown';
  return hasWords() ? 'refused' : 'unconfirmed';
}
