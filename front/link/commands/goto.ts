import { ApiError } from '../../../shared/errors.ts';
import type { Encoder } from '../encode.ts';
import { RESULT_ACCEPTED, RESULT_UNSUPPORTED } from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { gotoProblem } from './maneuvers.ts';
import type { ReachCheck } from './reach-check.ts';
import type { Context, Sender } from './sender.ts';

/** MAV_CMD */
const DO_REPOSITION = 192;
/** Param 2 of DO_REPOSITION: change to the mode that can do it. */
const CHANGE_MODE = 1;
const GUIDED = 'GUIDED';
const TARGET_SENDS = 3;

interface GotoParts {
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly sender: Sender;
  readonly reach: ReachCheck;
  /** Sends a frame that gets no ack. */
  readonly send: (bytes: Buffer) => void;
}

/** Degrees, and m above home. */
interface Place {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
}

/** Flies to a place, in whichever way the firmware knows. @throws ApiError E_BAD_REQUEST, E_TOO_FAR */
export async function goto(
  parts: GotoParts,
  context: Context,
  place: Place,
  allowFar: boolean,
): Promise<number | null> {
  const { vehicle, reach, sender } = parts;
  const { lat, lon, alt } = place;
  const problem = gotoProblem(sender.craft(), alt);
  if (problem !== null) throw new ApiError('E_BAD_REQUEST', problem);
  // Before it is sent, and so before it ends what is under way.
  if (!allowFar) await reach.check('goto', place);
  // Speed -1: the vehicle's own. Yaw NaN: as it flies; a plane reads this parameter as the direction of its circle.
  const yaw = vehicle.family === 'plane' ? 0 : NaN;
  const result = await sender.place(context, DO_REPOSITION, [-1, CHANGE_MODE, 0, yaw, lat, lon, alt]);
  if (result !== RESULT_UNSUPPORTED || vehicle.firmware !== 'ardupilot') return result;
  return gotoByTarget(parts, context, place);
}

/** For firmware without DO_REPOSITION. A position target gets no ack, so the answer is `no_ack`. */
async function gotoByTarget(
  { encoder, send, sender, vehicle }: GotoParts,
  context: Context,
  { lat, lon, alt }: Place,
): Promise<number | null> {
  if (vehicle.telemetry.mode !== GUIDED) {
    const mode = await sender.mode(context, GUIDED);
    if (mode !== RESULT_ACCEPTED) return mode;
  }
  if (context.turn.signal.aborted) return null;
  for (let count = 0; count < TARGET_SENDS; count++) {
    send(encoder.positionTarget(context.target, lat, lon, alt));
  }
  return null;
}
