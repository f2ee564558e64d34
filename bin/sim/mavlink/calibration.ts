import { clamp } from '../../../shared/flight/geo.ts';
import type { Faults } from '../faults.ts';
import type { Craft } from '../flight/craft.ts';
import type { MavResult } from '../mavlink-values.ts';
import type { Timers } from '../timers.ts';
import type { Channel } from './channel.ts';

/** What of a command says what to calibrate; `lat` and `lon` are parameters 5 and 6. */
export interface CalibrationCommand {
  readonly id: number;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: number;
  readonly lat: number;
  readonly lon: number;
}

/** Sends the ack of a command that is answered later. */
export type Answer = (result: MavResult) => void;

/** The calibration of one compass, as MAG_CAL_PROGRESS and MAG_CAL_REPORT tell it. */
export interface CompassCalibration {
  readonly id: number;
  /** MAG_CAL_STATUS */
  readonly status: number;
  readonly percent: number;
  readonly saved: boolean;
}

/** How a firmware calibrates its sensors. The person at the vehicle does what it says, unless the fault `clumsy` is set. */
export interface Calibration {
  /** One of its commands. @returns undefined: the ack comes later */
  perform(command: CalibrationCommand, answer: Answer): MavResult | undefined;
  compasses(): readonly CompassCalibration[];
  /** Why it does not arm. */
  reasons(): readonly string[];
  /** Power was off. */
  reset(): void;
}

export interface CalibrationTools {
  readonly craft: Craft;
  readonly channel: Channel;
  readonly faults: Faults;
  readonly timers: Timers;
  /** Monotonic wall clock, ms. */
  readonly now: () => number;
}

const MAX_SPEEDUP = 100;

/** Simulated seconds in a second. */
export function speedOf({ craft }: CalibrationTools): number {
  return clamp(craft.params.get('SIM_SPEEDUP'), 0.01, MAX_SPEEDUP);
}
