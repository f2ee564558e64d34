import type { Mission } from './mission.ts';
import type { FlightMode } from './modes.ts';
import type { Params } from './params.ts';
import type { Vehicle } from './vehicle.ts';

/** What the telemetry messages are made of. */
export interface TelemetryView {
  readonly vehicle: Vehicle;
  readonly params: Params;
  readonly mission: Mission;
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
