import type { AutoMode } from './auto.ts';
import type { EscapeModes } from './failsafe.ts';
import type { GuidedMode } from './guided.ts';
import type { FlightMode } from './modes.ts';

/** The flight modes of a vehicle, and which of them play a part that the link asks for by another name. */
export interface ModeSet extends EscapeModes {
  readonly all: readonly FlightMode[];
  /** Where MAV_CMD_DO_REPOSITION flies to its target. */
  readonly guided: GuidedMode;
  /** Where SET_POSITION_TARGET_GLOBAL_INT counts. */
  readonly offboard: GuidedMode;
  /** What MAV_CMD_NAV_TAKEOFF climbs in. */
  readonly takeoff: { readonly number: number; takeOff(height: number): void };
  readonly auto: AutoMode;
}
