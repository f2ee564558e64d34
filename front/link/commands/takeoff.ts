import { ApiError } from '../../../shared/errors.ts';
import { armingModes } from '../../../shared/flight/arming-modes.ts';
import type { ParamWriteRequest } from '../../../shared/rpc/link.ts';
import { RESULT_ACCEPTED } from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { flies, takeOffMode, takesOffByMode } from './maneuvers.ts';
import { type Context, knownAltitude, type Sender } from './sender.ts';

/** MAV_CMD */
const NAV_TAKEOFF = 22;
const TAKEOFF_MODE = 'TAKEOFF';
/** m above home, of a plane's mode TAKEOFF. */
const TAKEOFF_HEIGHT = 'TKOFF_ALT';
/** 1 on a plane that can hover, most of which call themselves plain fixed wings. */
const QUADPLANE = 'Q_ENABLE';
/** A climb of this many metres means that it has taken off. */
const CLIMBED_M = 1;

interface TakeoffParts {
  readonly vehicle: Vehicle;
  readonly sender: Sender;
  readonly params: {
    valueOf(name: string): number | null;
    write(request: ParamWriteRequest): Promise<unknown>;
  };
}

/**
 * From every mode. Armed, but not in GUIDED (ArduPilot then refuses every take-off): changes to GUIDED first. Disarmed: sends the
 * take-off unchanged, so that the answer has the vehicle's own reason; or, if asked, changes to a mode that arms and arms first: after
 * LAND, RTL or AUTO it would refuse, and in AUTO of a plane the mission would begin. A step that is refused is the answer.
 * @param alt m above home
 * @param arm arms first; null: it is not wanted
 * @throws ApiError E_BAD_REQUEST for what cannot fly
 */
export async function takeoff(
  parts: TakeoffParts,
  context: Context,
  alt: number,
  arm: (() => Promise<number | null>) | null,
): Promise<number | null> {
  const { params, sender, vehicle } = parts;
  const { family } = vehicle;
  let isArmed = vehicle.armed === true;
  const craft = sender.craft();
  if (!flies(craft)) {
    const kind = craft.family === 'px4' ? 'vehicle of this type' : (craft.family ?? 'vehicle');
    throw new ApiError('E_BAD_REQUEST', `takeoff: a ${kind} cannot take off.`);
  }
  // PX4 takes the height above sea level: one that has not told its own does not even arm.
  const ground = vehicle.firmware === 'px4' ? knownAltitude(vehicle.telemetry.position.alt_msl) : 0;
  const done = (result: number | null): boolean =>
    result === RESULT_ACCEPTED && context.note.seen === 'shown';
  const quadplane = (params.valueOf(QUADPLANE) ?? 0) >= 1;
  const from = takeOffMode(craft, quadplane);
  if (arm !== null && vehicle.armed === false) {
    const arming = family === null ? [] : armingModes(family);
    const [best] = arming;
    // A copter that refuses GUIDED, without a position, is not to stand there armed in STABILIZE.
    const modes = best === from ? [best] : arming;
    if (best !== undefined && !modes.includes(vehicle.telemetry.mode ?? '')) {
      const result = await sender.mode(context, best);
      if (!done(result)) return result;
      context.note.mode = best;
    }
    const result = await arm();
    if (!done(result)) return result;
    isArmed = true;
  }
  if (isArmed && takesOffByMode(craft, quadplane)) return takeoffByMode(parts, context, alt);
  const climbs = climbing(vehicle);
  const extras = { underway: climbs, shows: climbs };
  if (vehicle.firmware === 'px4') {
    // NaN: the present position and heading.
    return sender.long(context, NAV_TAKEOFF, [NaN, 0, 0, NaN, NaN, NaN, ground + alt], extras);
  }
  if (isArmed && from !== null && vehicle.telemetry.mode !== from) {
    const result = await sender.mode(context, from);
    if (result !== RESULT_ACCEPTED) return result;
    context.note.mode = from;
  }
  return sender.long(context, NAV_TAKEOFF, [0, 0, 0, 0, 0, 0, alt], extras);
}

/**
 * A fixed wing supports NAV_TAKEOFF only in a mission. Its mode TAKEOFF climbs to a height that is a parameter.
 * @throws ApiError of the parameter's write; then it stays on the ground
 */
async function takeoffByMode(
  { params, sender, vehicle }: TakeoffParts,
  context: Context,
  alt: number,
): Promise<number | null> {
  context.turn.claim();
  if (params.valueOf(TAKEOFF_HEIGHT) !== alt) {
    await params.write({ name: TAKEOFF_HEIGHT, value: alt, force: true });
  }
  if (vehicle.telemetry.mode === TAKEOFF_MODE) return RESULT_ACCEPTED;
  const result = await sender.mode(context, TAKEOFF_MODE);
  context.note.mode = TAKEOFF_MODE;
  return result;
}

/** The mode that a take-off changes to; null: it cannot take off, or nobody knows. */
export function takesOffIn(vehicle: Vehicle, valueOf: (name: string) => number | null): string | null {
  const { family, telemetry } = vehicle;
  const craft = { family, type: telemetry.mav_type, mode: telemetry.mode };
  return takeOffMode(craft, (valueOf(QUADPLANE) ?? 0) >= 1);
}

/** Why a take-off was refused, where the vehicle says nothing; null: the node does not know. @param arms it was to arm first */
export function takeoffHint({ armed, firmware, telemetry }: Vehicle, arms: boolean): string | null {
  if (armed === false && !arms && firmware === 'ardupilot')
    return 'The vehicle is disarmed, and ArduPilot takes off only when it is armed: arm it first, or take off with arm 1.';
  if (telemetry.landed_state === 'in_air') return 'The vehicle is in the air already.';
  return null;
}

/** @returns a check whether the vehicle has taken off since this call; always false if it is in the air already */
function climbing(vehicle: Vehicle): () => boolean {
  const { landed_state: state, position } = vehicle.telemetry;
  const ground = position.alt_rel;
  if (state === 'in_air') return () => false;
  return () => {
    const { landed_state: present, position: here } = vehicle.telemetry;
    const height = ground === null || here.alt_rel === null ? 0 : here.alt_rel - ground;
    return height > CLIMBED_M || (state !== null && (present === 'in_air' || present === 'takeoff'));
  };
}
