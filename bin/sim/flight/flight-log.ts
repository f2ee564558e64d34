import type { Param } from '../params/params.ts';
import type { Vehicle } from './vehicle.ts';

/** Between two samples, simulated seconds. */
export const SAMPLE_S = 0.2;
/** An hour or more of samples; what comes later is not written. */
export const MOST_LOG_BYTES = 8 * 1024 * 1024;

/** What a log takes of the vehicle. */
export interface LoggedState {
  readonly vehicle: Vehicle;
  readonly mode: { readonly number: number };
  readonly volts: number;
  readonly satellites: number;
}

/** A log of one flight, in the form of its firmware. */
export interface FlightLog {
  /** A text of the vehicle. */
  text(vehicle: Vehicle, words: string): void;
  /** Call it with each step while armed. */
  sample(state: LoggedState): void;
  /** The bytes of the log, which ends here. */
  end(state: LoggedState): Buffer;
}

/** Begins one. @param wall time of day, ms since 1970 */
export type BeginLog = (params: readonly Param[], state: LoggedState, wall: number) => FlightLog;
