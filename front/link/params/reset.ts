import { ApiError } from '../../../shared/errors.ts';
import { IDENTITY } from '../../../shared/mavlink/param-classes.ts';
import type { ParamsReset } from '../../../shared/rpc/link-answers.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import { type Exchange, RESULT_ACCEPTED } from '../exchange.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';

// MAV_CMD_PREFLIGHT_STORAGE, parameter 1: "reset config to default". ArduPilot erases its storage of parameters, and uses the
// old values until it boots. PX4 resets all but LND_FLIGHT_T_HI, LND_FLIGHT_T_LO and COM_FLIGHT_UUID at once, calibration and
// airframe too, and needs a boot for the airframe.
const PREFLIGHT_STORAGE = 245;
const RESET = 2;
const ANSWER_MS = 8000;
/** Both firmwares' default system id. */
const DEFAULT_ID = 1;

interface ResetOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  /** The value of a parameter; null if the vehicle has not sent it. */
  readonly valueOf: (name: string) => number | null;
  /** The armed guard was overridden. */
  readonly force: boolean;
}

/**
 * Sets all parameters back to their defaults, as the firmware does it.
 * @throws ApiError E_NO_FC, E_ARMED, E_IDENTITY: nothing was sent; E_TIMEOUT: no answer; E_UPSTREAM: the vehicle refused
 */
export async function resetParams(options: ResetOptions): Promise<ParamsReset> {
  const { clock, vehicle, guard, encoder, exchange, valueOf, force } = options;
  const target = vehicle.reach();
  // The edge checked this too, but the vehicle may have armed since (docs/threat-model.md J7).
  guard.demand('params_reset', target.system, force, { says: 'reset all parameters' });
  for (const name of IDENTITY) {
    const value = valueOf(name);
    if (value !== null && value !== DEFAULT_ID)
      throw new ApiError(
        'E_IDENTITY',
        `${name} is ${value} and would become ${DEFAULT_ID}. Name the parameters to reset.`,
      );
  }
  const result = await exchange.run({
    command: PREFLIGHT_STORAGE,
    key: `reset ${RESET}`,
    encode: (confirmation) =>
      encoder.commandLong(target, PREFLIGHT_STORAGE, [RESET, 0, 0, 0, 0, 0, 0], confirmation),
    deadline: clock.now() + ANSWER_MS,
    underway: () => !guard.mayChange('params_reset', target.system, force), // it is not sent again to a vehicle that was armed meanwhile
  });
  if (result === null) throw new ApiError('E_TIMEOUT', 'The vehicle did not answer the reset in time.');
  if (result !== RESULT_ACCEPTED)
    throw new ApiError('E_UPSTREAM', `The vehicle refused to reset its parameters (MAV_RESULT ${result}).`, {
      result,
    });
  return { reboot_required: true };
}
