import type { Firmware } from './firmware.ts';
import type { Mission } from './mission.ts';
import type { FlightMode } from './modes.ts';
import type { Params } from './params.ts';
import type { Vehicle } from './vehicle.ts';

/** What the telemetry messages are made of. */
export interface TelemetryView {
  readonly vehicle: Vehicle;
  readonly params: Params;
  readonly mission: Mission;
  readonly firmware: Firmware;
  /** Number that the board's unique id is made of. */
  readonly uid: number;
  /** MAV_PROTOCOL_CAPABILITY. */
  capabilities(): number;
  mode(): FlightMode;
  gpsOk(): boolean;
  positionOk(): boolean;
  attitudeOk(): boolean;
  preArmOk(): boolean;
  failsafe(): boolean;
  simulated(): boolean;
  /** V. */
  volts(): number;
}
