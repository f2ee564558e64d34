/** Typed decode of what a vehicle says of a calibration in messages (ArduPilot), like `decode.ts`. */
import type { Frame } from './frame.ts';
import { MSG } from './messages.ts';
import type { Payload } from './payload.ts';

/** MAV_CMD_ACCELCAL_VEHICLE_POS, in both directions. */
export const ACCELCAL_VEHICLE_POS = 42_429;

export type CalibrationMessage =
  /** COMMAND_LONG with MAV_CMD_ACCELCAL_VEHICLE_POS. `pose`: an ACCELCAL_VEHICLE_POS */
  | { readonly kind: 'pose'; readonly pose: number }
  /** MAG_CAL_PROGRESS. `mask`: the compasses that are calibrated, a bit each */
  | {
      readonly kind: 'progress';
      readonly compass: number;
      readonly mask: number;
      readonly percent: number;
    }
  /** MAG_CAL_REPORT. `status`: MAG_CAL_STATUS; `fitness`: RMS milligauss of the residuals */
  | {
      readonly kind: 'report';
      readonly compass: number;
      readonly mask: number;
      readonly status: number;
      readonly fitness: number;
    };

/** @param payload of `frame` @returns null for a COMMAND_LONG about something else */
export function decodeCalibration({ id }: Frame, payload: Payload): CalibrationMessage | null {
  switch (id) {
    case MSG.COMMAND_LONG:
      return payload.u16(28) === ACCELCAL_VEHICLE_POS ? { kind: 'pose', pose: payload.f32(0) } : null;
    case MSG.MAG_CAL_PROGRESS:
      return {
        kind: 'progress',
        compass: payload.u8(12),
        mask: payload.u8(13),
        percent: payload.u8(16),
      };
    case MSG.MAG_CAL_REPORT:
      return {
        kind: 'report',
        compass: payload.u8(40),
        mask: payload.u8(41),
        status: payload.u8(42),
        fitness: payload.f32(0),
      };
    default:
      return null;
  }
}
