import type { Aircraft } from '../flight/air-traffic.ts';
import type { FenceState } from '../flight/fence.ts';
import type { Mission } from '../flight/mission.ts';
import type { FlightMode } from '../flight/modes.ts';
import type { Radio } from '../flight/radio.ts';
import type { Vehicle } from '../flight/vehicle.ts';
import type { Params } from '../params/params.ts';
import type { CompassCalibration } from './calibration.ts';

/** What of a firmware stands in its telemetry. */
export interface TelemetryFacts {
  /** MAV_AUTOPILOT. */
  readonly autopilot: number;
  /** MAV_TYPE. */
  readonly type: number;
  /** AUTOPILOT_VERSION.flight_sw_version and the first eight bytes of the git hash. */
  readonly version: number;
  readonly gitHash: string;
  /** The members of the heartbeat that depend on the state. */
  /** The bit for the checks before arming in the three sets of SYS_STATUS. */
  preArmBit(view: TelemetryView): {
    readonly present: boolean;
    readonly enabled: boolean;
    readonly healthy: boolean;
  };
  heartbeat(view: TelemetryView): { readonly baseMode: number; readonly systemStatus: number };
}

/** What the telemetry messages are made of. */
export interface TelemetryView {
  readonly vehicle: Vehicle;
  readonly params: Params;
  readonly mission: Mission;
  readonly radio: Pick<Radio, 'channels' | 'saysNoRadio'>;
  readonly firmware: TelemetryFacts;
  /** Number that the board's unique id is made of. */
  readonly uid: number;
  /** MAV_PROTOCOL_CAPABILITY. */
  capabilities(): number;
  /** The ids of mission, fence and rally points; 0 where the firmware has none. */
  listIds(): readonly [mission: number, fence: number, rally: number];
  mode(): FlightMode;
  gpsOk(): boolean;
  positionOk(): boolean;
  attitudeOk(): boolean;
  preArmOk(): boolean;
  fence(): FenceState;
  /** The next aircraft that its receiver has heard; undefined: none for now. */
  aircraft(): Aircraft | undefined;
  failsafe(): boolean;
  /** The failsafe of the battery. */
  batteryLow(): boolean;
  simulated(): boolean;
  compasses(): readonly CompassCalibration[];
  /** V. */
  volts(): number;
}
