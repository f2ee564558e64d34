import type { Family } from '../../../shared/flight/modes.ts';

/** What a log says, in one form for all kinds of logs: metres, seconds, volts, degrees. What it does not say is null or absent. */
export type Fact =
  | { readonly kind: 'vehicle'; readonly text: string; readonly family: Family | null }
  | { readonly kind: 'firmware'; readonly firmware: Firmware }
  /** Time of day at this moment, ms since 1970. */
  | { readonly kind: 'clock'; readonly utcMs: number }
  /** Since the vehicle was switched on, s. */
  | { readonly kind: 'uptime'; readonly s: number }
  | { readonly kind: 'param'; readonly name: string; readonly value: number }
  | { readonly kind: 'armed'; readonly armed: boolean }
  | { readonly kind: 'landed'; readonly landed: boolean }
  /** By its name, or by its number in the table of the vehicle's family. */
  | { readonly kind: 'mode'; readonly mode: string | number }
  | { readonly kind: 'home'; readonly lat: number; readonly lon: number; readonly alt: number | null }
  /** `height` above home; `alt` above sea level or another level that stays. */
  | {
      readonly kind: 'position';
      readonly lat: number;
      readonly lon: number;
      readonly alt: number;
      readonly height: number | null;
    }
  | { readonly kind: 'speed'; readonly ms: number }
  | { readonly kind: 'voltage'; readonly volts: number }
  /** Since the vehicle was switched on. */
  | { readonly kind: 'used'; readonly mah: number }
  | { readonly kind: 'cell'; readonly volts: number }
  | { readonly kind: 'battery-state'; readonly state: 'low' | 'critical' }
  | { readonly kind: 'gps'; readonly satellites: number | null; readonly hdop: number | null }
  | { readonly kind: 'glitch'; readonly source: 'ekf' | 'error'; readonly active: boolean }
  /** Of the worst axis, m/s². */
  | { readonly kind: 'vibration'; readonly level: number }
  /** A counter of one accelerometer. */
  | { readonly kind: 'clips'; readonly sensor: number; readonly count: number }
  /** Length of the field at the first compass, mGauss. */
  | { readonly kind: 'field'; readonly length: number }
  /** Ratios to the limit of the estimator's own test, as its firmware tells them. */
  | {
      readonly kind: 'ekf';
      readonly compass: number;
      readonly velocity: number;
      readonly position: number;
      readonly height: number;
    }
  /** The estimator rejects the accelerometers. */
  | { readonly kind: 'bad-accelerometer' }
  /** Output 1 first, µs; 0: none. */
  | { readonly kind: 'outputs'; readonly pwm: readonly number[] }
  | { readonly kind: 'failsafe'; readonly name: string; readonly active: boolean }
  | { readonly kind: 'event'; readonly event: 'error' | 'message'; readonly text: string };

export type Firmware = 'ardupilot' | 'px4';

/** What the readers tell: records in the order of the file, with their times in seconds on a clock of the log. */
export interface FactSink {
  /** A record of this time is there, whatever it says. */
  seen(at: number): void;
  take(at: number, fact: Fact): void;
}
