import { type Encoder, OWN_COMPONENT } from '../encode.ts';
import { RESULT_ACCEPTED, RESULT_UNSUPPORTED } from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { Context, Sender } from './sender.ts';

// MAV_CMD
const DO_MOUNT_CONTROL = 205;
const DO_GIMBAL_MANAGER_PITCHYAW = 1000;
const DO_GIMBAL_MANAGER_CONFIGURE = 1001;
/** GIMBAL_MANAGER_FLAGS_ROLL_LOCK and PITCH_LOCK: level with the horizon, yaw with the vehicle. */
const LEVEL_GIMBAL = 4 | 8;
/** MAV_MOUNT_MODE_MAVLINK_TARGETING */
const MOUNT_BY_ANGLES = 2;

interface GimbalParts {
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly sender: Sender;
}

/** MAVLink's gimbal protocol v2; v1 for a vehicle that does not know it. Angles in degrees, from the vehicle. */
export async function gimbal(
  { encoder, sender, vehicle }: GimbalParts,
  context: Context,
  pitch: number,
  yaw: number,
): Promise<number | null> {
  if (vehicle.firmware === 'px4') {
    // PX4 listens to whoever has said that it controls the gimbal.
    const control = [encoder.system, OWN_COMPONENT, -1, -1];
    const taken = await sender.long(context, DO_GIMBAL_MANAGER_CONFIGURE, control);
    if (taken !== RESULT_ACCEPTED) return taken;
  }
  const result = await sender.long(context, DO_GIMBAL_MANAGER_PITCHYAW, [pitch, yaw, NaN, NaN, LEVEL_GIMBAL]);
  if (result !== RESULT_UNSUPPORTED) return result;
  return sender.long(context, DO_MOUNT_CONTROL, [pitch, 0, yaw, 0, 0, 0, MOUNT_BY_ANGLES]);
}
