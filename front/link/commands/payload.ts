import type { CommandName } from '../../../shared/flight/command-catalogue.ts';
import { type Craft, flies, type Maneuver } from './maneuvers.ts';

// MAV_CMD
const DO_ORBIT = 34;
const CONDITION_YAW = 115;
const DO_CHANGE_SPEED = 178;
const DO_SET_RELAY = 181;
const DO_SET_SERVO = 183;
const DO_REPOSITION = 192;
const DO_SET_ROI_LOCATION = 195;
const DO_SET_ROI_NONE = 197;
const DO_DIGICAM_CONTROL = 203;
const DO_PARACHUTE = 208;

/** Param 1 of DO_CHANGE_SPEED; a plane flies by airspeed. */
const AIRSPEED = 0;
const GROUND_SPEED = 1;
/** Param 3 of DO_CHANGE_SPEED: leave the throttle. */
const SAME_THROTTLE = -1;
/** Param 5 of DO_DIGICAM_CONTROL. */
const SHOOT = 1;
/** Param 1 of DO_PARACHUTE. */
const RELEASE = 2;
/** Param 2 of DO_REPOSITION: change to the mode that can do it. */
const CHANGE_MODE = 1;
/** MAV_TYPE_FIXED_WING */
const FIXED_WING = 1;
/** ArduCopter accepts a yaw in any mode; only in these does it turn. */
const TURNS_IN: ReadonlySet<string | null> = new Set(['GUIDED', 'AUTO']);

/** The commands about speed, direction and payload: neither about the motors nor about where it flies to. */
type PayloadCommand = Extract<
  CommandName,
  'yaw' | 'speed' | 'roi' | 'roiClear' | 'photo' | 'orbit' | 'servo' | 'relay' | 'parachute'
>;

/** What the vehicle shows, as far as these commands depend on it. */
interface PayloadFacts {
  /** Degrees, null while it is not known. */
  readonly heading: number | null;
  /** A parameter of the vehicle; null: it has none of this name, or it is not known yet. */
  readonly param: (name: string) => number | null;
}

/** @param args checked against the catalogue @returns how this kind of vehicle is told, or why it cannot do it */
export function payloadManeuver(
  cmd: PayloadCommand,
  args: readonly number[],
  craft: Craft,
  facts: PayloadFacts,
): Maneuver {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = args;
  const px4 = craft.family === 'px4';
  switch (cmd) {
    case 'yaw':
      return px4
        ? px4Yaw(craft, first, second, third === 1, facts.heading)
        : arduPilotYaw(craft, first, second, third === 1);
    case 'speed':
      return command(DO_CHANGE_SPEED, [
        craft.family === 'plane' ? AIRSPEED : GROUND_SPEED,
        first,
        SAME_THROTTLE,
      ]);
    case 'roi':
      return place(DO_SET_ROI_LOCATION, [0, 0, 0, 0], first, second, third);
    case 'roiClear':
      return command(DO_SET_ROI_NONE, []);
    case 'photo':
      // Both firmwares know this one for the camera that they trigger themselves.
      return command(DO_DIGICAM_CONTROL, [0, 0, 0, 0, SHOOT]);
    case 'orbit':
      if (!px4 && craft.family !== null) {
        return cannot(
          `orbit: ArduPilot has no orbit command. ${craft.family === 'copter' ? 'Use goto, then mode CIRCLE (radius: CIRCLE_RADIUS).' : 'A plane circles where goto sends it (radius: WP_LOITER_RAD).'}`,
        );
      }
      if (!flies(craft)) return cannot('orbit: a vehicle of this type cannot orbit.');
      if (first === 0) return cannot('orbit: radius must not be 0.');
      // Param 3, NaN: it looks where it is set to look.
      return place(DO_ORBIT, [first, second, NaN, 0], third, fourth, fifth);
    case 'servo':
      return px4
        ? cannot(
            'servo: PX4 has no command for an output by its number; it assigns functions to outputs (parameters PWM_*_FUNC*).',
          )
        : command(DO_SET_SERVO, [first, second]);
    case 'relay':
      return px4 ? cannot('relay: PX4 has no relays.') : command(DO_SET_RELAY, [first, second]);
    case 'parachute':
      return parachute(craft, facts);
  }
}

function command(id: number, params: readonly number[]): Maneuver {
  return { kind: 'command', command: id, params };
}

function place(
  id: number,
  head: readonly [number, number, number, number],
  lat: number,
  lon: number,
  alt: number,
): Maneuver {
  return { kind: 'place', command: id, params: [...head, lat, lon, alt] };
}

function cannot(sentence: string): Maneuver {
  return { kind: 'cannot', sentence };
}

function arduPilotYaw(craft: Craft, degrees: number, rate: number, relative: boolean): Maneuver {
  const { family, mode } = craft;
  if (family === 'plane' || family === 'rover') {
    return cannot(`yaw: a ${family} turns by moving. Use goto.`);
  }
  if (family === 'copter' && !TURNS_IN.has(mode)) {
    return cannot(
      `yaw: a copter turns by command in GUIDED and AUTO only, and is in ${mode ?? 'no known mode'}.`,
    );
  }
  // The angle goes from 0 to 360; a relative one has its direction in param 3 (-1 counter-clockwise).
  return relative
    ? command(CONDITION_YAW, [Math.abs(degrees), rate, degrees < 0 ? -1 : 1, 1])
    : command(CONDITION_YAW, [wrapped(degrees), rate, 0, 0]);
}

/** PX4 turns by a DO_REPOSITION that names no place: it holds where it is. The angle is in radians, as QGroundControl sends it. */
function px4Yaw(
  craft: Craft,
  degrees: number,
  rate: number,
  relative: boolean,
  heading: number | null,
): Maneuver {
  if (!flies(craft) || craft.type === FIXED_WING) {
    return cannot('yaw: a vehicle of this type turns by moving. Use goto.');
  }
  if (rate !== 0)
    return cannot(
      'yaw: PX4 turns at its own rate (parameter MPC_YAWRAUTO_MAX). Leave the rate out, or say 0.',
    );
  if (relative && heading === null)
    return cannot('yaw: the vehicle has not told its heading: give an absolute angle.');
  const wanted = wrapped(relative ? (heading ?? 0) + degrees : degrees);
  const radians = ((wanted > 180 ? wanted - 360 : wanted) * Math.PI) / 180;
  return command(DO_REPOSITION, [-1, CHANGE_MODE, 0, radians, NaN, NaN, NaN]);
}

function parachute({ family }: Craft, { param }: PayloadFacts): Maneuver {
  if (family === 'px4') {
    return cannot('parachute: PX4 releases its parachute itself, when it terminates the flight.');
  }
  if (family === 'rover' || family === 'sub') return cannot(`parachute: a ${family} has none.`);
  // ArduPilot acknowledges a release that it does not carry out.
  return param('CHUTE_ENABLED') === 0
    ? cannot('parachute: none is set up (CHUTE_ENABLED is 0).')
    : command(DO_PARACHUTE, [RELEASE]);
}

/** @returns 0 to 360 */
function wrapped(degrees: number): number {
  return ((degrees % 360) + 360) % 360;
}
