import type { Family } from '../../../shared/flight/modes.ts';
import type { FlightReport } from '../../../shared/schemas/flight-report.ts';
import type { Extreme } from './extreme.ts';
import type { Firmware } from './facts.ts';

interface Finding {
  readonly severity: FlightReport['findings'][number]['severity'];
  readonly text: string;
  /** s since the first record */
  readonly at: number | null;
}

/** What the rules look at. */
export interface Judged {
  readonly firmware: Firmware | null;
  readonly family: Family | null;
  readonly params: ReadonlyMap<string, number>;
  readonly vibration: Extreme;
  readonly voltage: Extreme;
  readonly cell: Extreme;
  readonly satellites: Extreme;
  readonly hdop: Extreme;
  readonly compass: Extreme;
  /** What the firmware's own test of its estimator compares with its limit. */
  readonly estimator: Extreme;
  /** Largest change of the magnetic field against the one at arming, as a part of it. */
  readonly fieldChange: Extreme;
  /** When it was first so. */
  readonly batteryStates: ReadonlyMap<'low' | 'critical', number>;
  readonly badAccelerometerAt: number | null;
  readonly glitches: number | null;
  readonly glitchAt: number | null;
  readonly clips: number | null;
  readonly clipAt: number | null;
  /** Names of those that were active, and when first. */
  readonly failsafes: ReadonlyMap<string, number>;
  /** µs, summed while flying. */
  readonly outputSums: readonly number[];
  readonly outputSamples: number;
  /** Lists have more than they show. */
  readonly isCut: boolean;
}

/** A documented limit, and whether a flight kept it. */
interface Rule {
  readonly name: string;
  /** Null: of every firmware. */
  readonly firmware: Firmware | null;
  /** Where the limit is documented. */
  readonly source: string;
  /** The limit, in words: it ends the text of the finding. */
  readonly limit: (flight: Judged) => string;
  readonly test: (flight: Judged) => Finding | null;
}

const AP_VIBRATION = 'https://ardupilot.org/copter/docs/common-measuring-vibration.html';
const AP_LOGS = 'https://ardupilot.org/copter/docs/common-diagnosing-problems-using-logs.html';
const AP_EKF = 'https://ardupilot.org/copter/docs/ekf-inav-failsafe.html';
const PX4_ESTIMATOR = 'https://github.com/PX4/PX4-Autopilot/blob/main/msg/EstimatorStatus.msg';

/** ArduPilot's FS_EKF_THRESH where the log does not have it (ArduCopter/config.h). */
const EKF_THRESHOLD = 0.8;
/** SERVOn_FUNCTION of motors 1 to 8 and 9 to 12 (https://ardupilot.org/copter/docs/parameters.html#servo1-function). */
const isMotor = (output: number): boolean => (output >= 33 && output <= 40) || (output >= 82 && output <= 85);

export const RULES: readonly Rule[] = [
  {
    name: 'vibration',
    firmware: 'ardupilot',
    source: AP_VIBRATION,
    limit: () => 'Up to 30 m/s² is acceptable, above 60 m/s² nearly always a problem (ArduPilot).',
    test: ({ vibration }) =>
      above(vibration, [30, 60], (level) => `The vibration was up to ${level.toFixed(1)} m/s².`),
  },
  {
    name: 'clipping',
    firmware: 'ardupilot',
    source: AP_VIBRATION,
    limit: () => 'None is ideal, and 100 or more are a serious vibration problem (ArduPilot).',
    test: ({ clips, clipAt }) =>
      clips === null || clips === 0
        ? null
        : {
            severity: clips < 100 ? 'info' : 'critical',
            text: `An accelerometer was ${clips} times at its limit.`,
            at: clipAt,
          },
  },
  {
    name: 'accelerometer',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    limit: () => 'PX4 sets this flag when vibration or clipping make them unusable (solution_status_flags).',
    test: ({ badAccelerometerAt: at }) =>
      at === null ? null : { severity: 'critical', text: 'The estimator rejected the accelerometers.', at },
  },
  {
    name: 'compass field',
    firmware: 'ardupilot',
    source: AP_LOGS,
    limit: () => 'Up to 30 % is acceptable, above 60 % is bad interference (ArduPilot).',
    test: ({ fieldChange }) =>
      above(
        fieldChange,
        [0.3, 0.6],
        (part) => `The magnetic field changed by up to ${(part * 100).toFixed(0)} % since arming.`,
      ),
  },
  {
    name: 'compass',
    firmware: 'ardupilot',
    source: AP_EKF,
    limit: (flight) => `The limit is ${thresholdOf(flight)} (FS_EKF_THRESH).`,
    test: (flight) =>
      above(
        flight.compass,
        [thresholdOf(flight)],
        (value) => `The compass variance of the EKF was up to ${value.toFixed(2)}.`,
      ),
  },
  {
    name: 'compass',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    limit: () => 'Above 1 the measurement is rejected (PX4).',
    test: ({ compass }) =>
      above(compass, [1], (value) => `The test ratio of the compass was up to ${value.toFixed(2)}.`),
  },
  {
    name: 'battery voltage',
    firmware: 'ardupilot',
    source: 'https://ardupilot.org/copter/docs/failsafe-battery.html',
    limit: ({ params }) =>
      `The vehicle's own limits are ${volts(params.get('BATT_LOW_VOLT'))} (BATT_LOW_VOLT) and ${volts(params.get('BATT_CRT_VOLT'))} (BATT_CRT_VOLT).`,
    test: ({ voltage, params }) => {
      const isBelow = (name: string): boolean => (voltage.value ?? Infinity) < (params.get(name) ?? 0);
      if (!isBelow('BATT_LOW_VOLT') && !isBelow('BATT_CRT_VOLT')) return null;
      return {
        severity: isBelow('BATT_CRT_VOLT') ? 'critical' : 'warning',
        text: `The battery sagged to ${volts(voltage.value ?? undefined)}.`,
        at: voltage.at,
      };
    },
  },
  {
    name: 'battery cells',
    firmware: 'px4',
    source: 'https://docs.px4.io/main/en/advanced_config/parameter_reference.html#BAT1_V_EMPTY',
    limit: (flight) => `A cell counts as empty at ${volts(emptyCellOf(flight))} (BAT1_V_EMPTY).`,
    test: (flight) => {
      const { value, at } = flight.cell;
      if (value === null || value >= emptyCellOf(flight)) return null;
      return { severity: 'warning', text: `A cell sagged to ${volts(value)}.`, at };
    },
  },
  {
    name: 'battery state',
    firmware: null,
    source: 'https://mavlink.io/en/messages/common.html#MAV_BATTERY_CHARGE_STATE',
    limit: () => "By the vehicle's own thresholds.",
    test: ({ batteryStates }) => {
      const critical = batteryStates.get('critical');
      const at = critical ?? batteryStates.get('low');
      if (at === undefined) return null;
      return critical === undefined
        ? { severity: 'warning', text: 'The vehicle called its battery low.', at }
        : { severity: 'critical', text: 'The vehicle called its battery critical.', at };
    },
  },
  {
    name: 'GPS glitch',
    firmware: null,
    source: AP_LOGS,
    limit: () => 'None is expected.',
    test: ({ glitches, glitchAt: at }) =>
      glitches === null || glitches === 0
        ? null
        : { severity: 'warning', text: `The vehicle saw ${glitches} GPS glitches.`, at },
  },
  {
    name: 'GPS precision',
    firmware: 'ardupilot',
    source: AP_LOGS,
    limit: () => 'Above 2.0 positions may not be good (ArduPilot).',
    test: ({ hdop }) => above(hdop, [2], (value) => `The HDOP of the GPS was up to ${value.toFixed(2)}.`),
  },
  {
    name: 'satellites',
    firmware: 'ardupilot',
    source: AP_LOGS,
    limit: () => 'Fewer than 12 are bad (ArduPilot).',
    test: fewSatellites,
  },
  {
    name: 'satellites',
    firmware: 'px4',
    source: 'https://docs.px4.io/main/en/log/flight_review.html#gps-uncertainty',
    limit: () => 'About 12 or more are expected (PX4).',
    test: fewSatellites,
  },
  {
    name: 'EKF',
    firmware: 'ardupilot',
    source: AP_EKF,
    limit: (flight) =>
      `The check fails at ${thresholdOf(flight)} (FS_EKF_THRESH) of two of compass, position and velocity, or at twice that of the velocity.`,
    test: (flight) =>
      above(
        flight.estimator,
        [thresholdOf(flight)],
        (value) => `The variances of the EKF reached ${value.toFixed(2)}.`,
        'critical',
      ),
  },
  {
    name: 'EKF',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    limit: () => 'Above 1 the measurement is rejected (PX4).',
    test: ({ estimator }) =>
      above(
        estimator,
        [1],
        (value) => `A test ratio of velocity, position or height was up to ${value.toFixed(2)}.`,
      ),
  },
  {
    name: 'failsafe',
    firmware: null,
    source: 'https://ardupilot.org/copter/docs/failsafe-landing-page.html',
    limit: () => 'None is expected.',
    test: ({ failsafes }) => {
      const [first] = failsafes.values();
      if (first === undefined) return null;
      const names = [...failsafes.keys()].slice(0, 5).join('; ');
      return { severity: 'critical', text: `Failsafe: ${names}.`, at: first };
    },
  },
  {
    name: 'motor balance',
    firmware: 'ardupilot',
    // The limits of ArduPilot's own analyzer, which Mission Planner runs.
    source:
      'https://github.com/ArduPilot/ardupilot/blob/Copter-4.5/Tools/LogAnalyzer/tests/TestMotorBalance.py',
    limit: () => 'Above 75 µs is a warning, above 150 µs a failure (ArduPilot LogAnalyzer).',
    test: (flight) => {
      const motors = motorsOf(flight);
      if (flight.family !== 'copter' || motors.length < 3) return null;
      const difference = Math.max(...motors) - Math.min(...motors);
      if (!(difference > 75)) return null;
      return {
        severity: difference > 150 ? 'critical' : 'warning',
        text: `The mean outputs of the motors differ by ${difference.toFixed(0)} µs.`,
        at: null,
      };
    },
  },
];

/** What a flight did beyond a documented limit, by the table above; and that its lists are cut. */
export function findingsOf(flight: Judged): readonly Finding[] {
  const found = RULES.filter(({ firmware }) => firmware === null || firmware === flight.firmware).flatMap(
    ({ limit, test }) => {
      const finding = test(flight);
      return finding === null ? [] : [{ ...finding, text: `${finding.text} ${limit(flight)}` }];
    },
  );
  if (!flight.isCut) return found;
  return [
    ...found,
    { severity: 'info', text: 'The log has more modes or events than are listed.', at: null },
  ];
}

/** @param limits of a warning, and of what is critical */
function above(
  { value, at }: Extreme,
  [first, second = Infinity]: readonly [number, number?],
  text: (value: number) => string,
  least: 'warning' | 'critical' = 'warning',
): Finding | null {
  if (value === null || value <= first) return null;
  return { severity: value > second ? 'critical' : least, text: text(value), at };
}

function fewSatellites({ satellites: { value, at } }: Judged): Finding | null {
  if (value === null || value >= 12) return null;
  return { severity: 'info', text: `The GPS had ${value} satellites at the least.`, at };
}

function thresholdOf({ params }: Judged): number {
  const set = params.get('FS_EKF_THRESH') ?? EKF_THRESHOLD;
  return set > 0 ? Number(set.toFixed(2)) : EKF_THRESHOLD;
}

function emptyCellOf({ params }: Judged): number {
  return params.get('BAT1_V_EMPTY') ?? params.get('BAT_V_EMPTY') ?? 3.6;
}

/** Mean outputs of those that the parameters call motors, µs. */
function motorsOf({ params, outputSums, outputSamples }: Judged): readonly number[] {
  if (outputSamples === 0) return [];
  return outputSums
    .map((sum) => sum / outputSamples)
    .filter((mean, index) => isMotor(params.get(`SERVO${index + 1}_FUNCTION`) ?? 0) && mean > 0);
}

function volts(value: number | undefined): string {
  return value === undefined ? 'not known' : `${value.toFixed(2)} V`;
}
