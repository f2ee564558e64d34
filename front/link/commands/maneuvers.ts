import type { Family } from '../../../shared/flight/modes.ts';
import type { Params7 } from '../encode.ts';

// MAV_CMD
const NAV_RETURN_TO_LAUNCH = 20;
const NAV_LAND = 21;
const DO_LAND_START = 189;
const DO_PAUSE_CONTINUE = 193;

/** MAV_TYPE ground rover, surface boat, submarine: the kinds of PX4 vehicle that do not fly. */
const STAYS_DOWN: ReadonlySet<number> = new Set([10, 11, 12]);
/** MAV_TYPE of the VTOL kinds. */
const VTOL: ReadonlySet<number> = new Set([19, 20, 21, 22, 23, 24, 25]);

/** The facts that decide which command a vehicle needs. */
export interface Craft {
  /** Null: a kind whose modes we do not know; it gets MAVLink's plain commands. */
  readonly family: Family | null;
  /** MAV_TYPE */
  readonly type: number | null;
  /** Name of its present mode. */
  readonly mode: string | null;
}

/** One way to command the vehicle. */
export type Maneuver =
  | { readonly kind: 'mode'; readonly name: string }
  | {
      readonly kind: 'command';
      readonly command: number;
      readonly params: readonly number[];
      /** Modes with the same effect, for a vehicle that does not know the command. */
      readonly otherwise?: readonly string[];
      /** Try these modes after any refusal, not only when the command is unknown. */
      readonly always?: true;
    }
  /** A command about a place: its first four parameters, latitude and longitude in degrees, m above home. */
  | { readonly kind: 'place'; readonly command: number; readonly params: Params7 }
  /** This kind of vehicle cannot do it. */
  | { readonly kind: 'cannot'; readonly sentence: string };

const mode = (name: string): Maneuver => ({ kind: 'mode', name });
const command = (id: number, params: readonly number[] = []): Maneuver => ({
  kind: 'command',
  command: id,
  params,
});
const cannot = (sentence: string): Maneuver => ({ kind: 'cannot', sentence });

/** Whether this kind of vehicle can fly; an unknown kind is assumed to. */
export function flies({ family, type }: Craft): boolean {
  if (family === 'rover' || family === 'sub') return false;
  return family !== 'px4' || type === null || !STAYS_DOWN.has(type);
}

/** The mode in which it holds its place, null for an unknown kind. */
export function holdMode(craft: Craft): string | null {
  switch (craft.family) {
    case 'copter':
      return 'BRAKE';
    case 'plane':
      // LOITER would take one that hovers into forward flight.
      return hovers(craft) ? 'QLOITER' : 'LOITER';
    case 'rover':
      return 'HOLD';
    case 'sub':
      return 'POSHOLD';
    case 'px4':
      return 'AUTO.LOITER';
    case null:
      return null;
  }
}

/** By mode; the mode's number differs between families. */
export function returning({ family }: Craft): Maneuver {
  switch (family) {
    case 'copter':
    case 'plane':
    case 'rover':
      return mode('RTL');
    case 'sub':
      return cannot('rtl: a submarine has no return mode. Use land to surface, or goto.');
    case 'px4':
      return mode('AUTO.RTL');
    case null:
      return command(NAV_RETURN_TO_LAUNCH);
  }
}

/** ArduPlane knows no NAV_LAND outside of a mission: DO_LAND_START goes to the mission's landing. */
export function landsByMission(craft: Craft): boolean {
  return craft.family === 'plane' && !isVtol(craft);
}

export function landing(craft: Craft): Maneuver {
  switch (craft.family) {
    case 'plane':
      return landsByMission(craft) ? command(DO_LAND_START) : mode('QLAND');
    case 'rover':
      return cannot('land: a rover is on the ground already. Use stop.');
    case 'sub':
      return mode('SURFACE'); // ArduSub maps NAV_LAND to this mode too
    case 'copter':
    case 'px4':
    case null:
      return command(NAV_LAND);
  }
}

/** The modes in which it holds its position, best first; none for an unknown kind. */
export function holdModes(craft: Craft): readonly string[] {
  if (craft.family === 'copter') return ['BRAKE', 'LOITER'];
  const hold = holdMode(craft);
  return hold === null ? [] : [hold];
}

/** A fixed wing that has a mode for take-off. */
export function takesOffByMode(craft: Craft, quadplane: boolean): boolean {
  return craft.family === 'plane' && !quadplane && !isVtol(craft);
}

/** The mode in which it takes off by command; null: it cannot, or nobody knows. @param quadplane as `takesOffByMode` */
export function takeOffMode(craft: Craft, quadplane: boolean): string | null {
  if (craft.family === null || !flies(craft)) return null;
  if (craft.family === 'px4') return 'AUTO.TAKEOFF';
  return takesOffByMode(craft, quadplane) ? 'TAKEOFF' : 'GUIDED';
}

/**
 * Of ArduPilot's vehicles only the copter knows DO_PAUSE_CONTINUE; PX4 does not. A copter refuses it during take-off and at the
 * last item, and would fly on; a mode change stops it then.
 */
export function pausing(craft: Craft): Maneuver {
  if (craft.family === null) return command(DO_PAUSE_CONTINUE, [0]);
  if (craft.family !== 'copter') return mode(holdMode(craft) ?? '');
  const otherwise = holdModes(craft);
  return { kind: 'command', command: DO_PAUSE_CONTINUE, params: [0], otherwise, always: true };
}

/** Continues at the present item (ArduPilot with MIS_RESTART 1 restarts the mission when it enters AUTO). */
export function resuming({ family, mode: present }: Craft): Maneuver {
  switch (family) {
    case 'copter':
      // A copter that was paused is still in the mode that it was paused in.
      return present === 'AUTO' || present === 'GUIDED'
        ? { kind: 'command', command: DO_PAUSE_CONTINUE, params: [1], otherwise: ['AUTO'] }
        : mode('AUTO');
    case 'plane':
    case 'rover':
    case 'sub':
      return mode('AUTO');
    case 'px4':
      return mode('AUTO.MISSION');
    case null:
      return command(DO_PAUSE_CONTINUE, [1]);
  }
}

/** Why `goto` to a height (m above home) makes no sense for it, null when it does. */
export function gotoProblem(craft: Craft, alt: number): string | null {
  if (craft.family === 'sub') return alt > 0 ? 'goto: alt of a submarine is 0 or below, m from home.' : null;
  if (!flies(craft)) return null; // its height is the ground's
  return alt < 1 ? 'goto: alt must be a number from 1 to 500 m.' : null;
}

function isVtol(craft: Craft): boolean {
  return (craft.type !== null && VTOL.has(craft.type)) || hovers(craft);
}

/** In one of the Q modes; most VTOL planes call themselves plain fixed wings (Q_MAV_TYPE 0). */
function hovers({ mode: present }: Craft): boolean {
  return present?.startsWith('Q') === true;
}
