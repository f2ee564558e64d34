import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/**
 * What helps where a vehicle has refused to disarm: both firmwares refuse it in the air (ArduPilot's AP_Arming::disarm of the vehicle,
 * PX4's Commander), ArduPilot without a word. Null on the ground.
 */
export function disarmHint({ landed_state: landed }: Pick<Telemetry, 'landed_state'>): string | null {
  const how = 'land it first (land or rtl), then disarm.';
  if (landed === 'on_ground') return null;
  return landed === null
    ? `A vehicle refuses this in the air, and this one does not say whether it flies: ${how}`
    : `It is in the air: ${how}`;
}
