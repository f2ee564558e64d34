import { armedRefusal, type Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { Context, Sender } from './sender.ts';

/**
 * MAV_CMD_DO_MOTOR_TEST: motor, kind of throttle, throttle, seconds. Both firmwares know it; PX4 takes percent alone, ArduPilot
 * counts the motors in the order of its own test, which is where they are, not where they are connected.
 */
const DO_MOTOR_TEST = 209;
const PERCENT = 0;
/** The vehicle has to have said lately that it stands. */
const FRESH_S = 5;

interface Parts {
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly sender: Sender;
}

/**
 * Runs one motor. It is sent once: a second one would run it again after whoever reads "no answer" has come near.
 * @throws ApiError E_ARMED unless the vehicle is known to be disarmed and says that it is on the ground; nothing overrides that
 */
export async function motorTest(
  { vehicle, guard, sender }: Parts,
  context: Context,
  motor: number,
  percent: number,
  seconds: number,
): Promise<number | null> {
  const says = 'test a motor';
  guard.demand('motor_test', context.target.system, false, { says });
  const { landed_state: landed, ages } = vehicle.telemetry;
  if (landed !== 'on_ground' || (ages.landed_state ?? Infinity) > FRESH_S)
    throw armedRefusal(
      says,
      false,
      'The vehicle does not say that it is on the ground. No motor was started.',
    );
  return sender.long(context, DO_MOTOR_TEST, [motor, PERCENT, percent, seconds], { sends: 1 });
}
