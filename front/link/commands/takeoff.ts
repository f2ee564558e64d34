import { ApiError } from '../../../shared/errors.ts';
import { modeNumber } from '../../../shared/flight/modes.ts';
import type { ParamWriteRequest } from '../../../shared/rpc/link.ts';
import { RESULT_ACCEPTED } from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { flies, takesOffByMode } from './maneuvers.ts';
import { type Context, knownAltitude, type Sender } from './sender.ts';

/** MAV_CMD */
const NAV_TAKEOFF = 22;
const GUIDED = 'GUIDED';
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
 * Disarmed: sends the take-off unchanged, so that the answer has the vehicle's own reason. Armed, but not in GUIDED
 * (ArduPilot then refuses every take-off): changes to GUIDED first; if that is refused, the refusal is the answer.
 * @param alt m above home
 * @throws ApiError E_BAD_REQUEST for what cannot fly
 */
export async function takeoff(parts: TakeoffParts, context: Context, alt: number): Promise<number | null> {
  const { params, sender, vehicle } = parts;
  const craft = sender.craft();
  if (!flies(craft)) {
    const kind = craft.family === 'px4' ? 'vehicle of this type' : (craft.family ?? 'vehicle');
    throw new ApiError('E_BAD_REQUEST', `takeoff: a ${kind} cannot take off.`);
  }
  if (vehicle.armed === true && takesOffByMode(craft, (params.valueOf(QUADPLANE) ?? 0) >= 1)) {
    return takeoffByMode(parts, context, alt);
  }
  const climbs = climbing(vehicle);
  const extras = { underway: climbs, shows: climbs };
  if (vehicle.firmware === 'px4') {
    // PX4 takes the height above sea level, and NaN as the present position and heading.
    const ground = knownAltitude(vehicle.telemetry.position.alt_msl);
    return sender.long(context, NAV_TAKEOFF, [NaN, 0, 0, NaN, NaN, NaN, ground + alt], extras);
  }
  const { family } = vehicle;
  if (vehicle.armed === true && family !== null && vehicle.telemetry.mode !== GUIDED) {
    if (modeNumber(family, GUIDED) !== null) {
      const result = await sender.mode(context, GUIDED);
      if (result !== RESULT_ACCEPTED) return result;
    }
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

/** Why a take-off was refused, where the vehicle says nothing; null: the node does not know. */
export function takeoffHint({ armed, firmware, telemetry }: Vehicle): string | null {
  if (armed === false && firmware === 'ardupilot')
    return 'The vehicle is disarmed, and ArduPilot takes off only when it is armed: arm it first.';
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
