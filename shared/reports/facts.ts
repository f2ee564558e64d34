import type { Family } from '../flight/modes.ts';

type Said =
  | { readonly kind: 'vehicle'; readonly text: string; readonly family: Family | null }
  | { readonly kind: 'firmware'; readonly firmware: Firmware }
  | { readonly kind: 'log'; readonly log: LogKind }
  /** PX4: whether it hovers as it flies now. */
  | { readonly kind: 'rotary'; readonly rotary: boolean }
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
  | { readonly kind: 'current'; readonly amps: number }
  /** Supply of the autopilot itself, about 5 V. */
  | { readonly kind: 'board'; readonly volts: number }
  /** Since the vehicle was switched on. */
  | { readonly kind: 'used'; readonly mah: number }
  | { readonly kind: 'cell'; readonly volts: number }
  | { readonly kind: 'battery-state'; readonly state: 'low' | 'critical' }
  | { readonly kind: 'gps'; readonly satellites: number | null; readonly hdop: number | null }
  /** What the receiver says itself; degrees, m/s. */
  | {
      readonly kind: 'fix';
      readonly is3d: boolean;
      readonly lat: number;
      readonly lon: number;
      readonly ms: number;
    }
  | { readonly kind: 'glitch'; readonly source: 'ekf' | 'error'; readonly active: boolean }
  /** Of the worst axis, m/s². */
  | { readonly kind: 'vibration'; readonly level: number }
  /** A counter of one accelerometer. */
  | { readonly kind: 'clips'; readonly sensor: number; readonly count: number }
  /** Length of what an accelerometer measures, m/s². */
  | { readonly kind: 'acceleration'; readonly length: number }
  /** Length of the field at the first compass, mGauss. */
  | { readonly kind: 'field'; readonly length: number }
  /** Degrees. */
  | { readonly kind: 'attitude'; readonly roll: number; readonly pitch: number }
  | { readonly kind: 'desired'; readonly roll: number; readonly pitch: number }
  /** Ratios to the limit of the estimator's own test, as its firmware tells them. */
  | {
      readonly kind: 'ekf';
      readonly compass: number;
      readonly velocity: number;
      readonly position: number;
      readonly height: number;
    }
  /** Which core of the estimator flies the vehicle. */
  | { readonly kind: 'lane'; readonly core: number }
  /** The estimator rejects the accelerometers. */
  | { readonly kind: 'bad-accelerometer' }
  /** Output 1 first, µs; 0: none. */
  | { readonly kind: 'outputs'; readonly pwm: readonly number[] }
  /** Motor 1 first, 0 to 1; NaN: none. */
  | { readonly kind: 'motors'; readonly parts: readonly number[] }
  /** From 0. */
  | { readonly kind: 'esc'; readonly index: number; readonly rpm: number }
  /** One that has never been there is not lost. */
  | { readonly kind: 'link'; readonly name: string; readonly isLost: boolean }
  | { readonly kind: 'failsafe'; readonly name: string; readonly active: boolean }
  /** What the firmware itself has found. */
  | { readonly kind: 'verdict'; readonly what: Verdict; readonly text: string }
  | { readonly kind: 'event'; readonly event: 'error' | 'message'; readonly text: string };

/** What a log says, in one form for all kinds of logs: metres, seconds, volts, degrees. What it does not say is null or absent. */
export type Fact = Said & {
  /** Message and field of the log that say it, `BAT.Volt`. */
  readonly of?: string;
};
export type FactOf<K extends Fact['kind']> = Extract<Said, { readonly kind: K }> & Pick<Fact, 'of'>;

export type Firmware = 'ardupilot' | 'px4';
export type LogKind = 'dataflash' | 'ulog' | 'tlog';
export type Verdict =
  | 'thrust loss'
  | 'crash'
  | 'EKF lane switch'
  | 'motor failure'
  | 'ESC failure'
  | 'attitude failure'
  | 'trouble';

/** What the readers tell: records in the order of the file, with their times in seconds on a clock of the log. */
export interface FactSink {
  /** A record of this time is there, whatever it says. */
  seen(at: number): void;
  take(at: number, fact: Fact): void;
}

const VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
  [/potential thrust loss/i, 'thrust loss'],
  [/^crash\b|crash: disarming|crash detected/i, 'crash'],
  [/\bEKF\d? (?:lane switch|primary changed)/i, 'EKF lane switch'],
  [/motor failure|engine failure/i, 'motor failure'],
  [/attitude failure|flight termination/i, 'attitude failure'],
];

/** What the firmware has found, where a text of it says so. */
export function verdictIn(text: string, of: string): readonly Fact[] {
  const found = VERDICTS.find(([pattern]) => pattern.test(text));
  return found === undefined ? [] : [{ kind: 'verdict', what: found[1], text, of }];
}

const SEVERITY_WARNING = 4;

/** Of a text of the vehicle: those that warn, and those about a failsafe. @param severity MAV_SEVERITY */
export function factsOfText(severity: number, text: string, of: string): readonly Fact[] {
  if (severity > SEVERITY_WARNING) return [];
  const found = verdictIn(text, of);
  if (found.length > 0 || !/failsafe/i.test(text))
    return [{ kind: 'event', event: 'message', text }, ...found];
  return [{ kind: 'failsafe', name: text, active: !/clear|off\b|resolved/i.test(text), of }];
}
