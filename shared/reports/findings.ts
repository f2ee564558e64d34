import type { Family } from '../flight/modes.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import type { Fact, FactOf, Firmware, LogKind, Verdict } from './facts.ts';
import { type Found, type Sample, Spell, type SpellOptions } from './spell.ts';

type Severity = FlightReport['findings'][number]['severity'];
type Finding = FlightReport['findings'][number];

/** What the rules look at besides the fact itself, which it has in it already. */
export interface Judged {
  readonly firmware: Firmware | null;
  readonly family: Family | null;
  readonly log: LogKind | null;
  /** PX4: it hovers. */
  readonly rotary: boolean | null;
  readonly params: ReadonlyMap<string, number>;
  /** What the parameter that was told just now had before; null: it is the first, or the same. */
  readonly changedFrom: number | null;
  readonly armed: boolean | null;
  readonly landed: boolean | null;
  /** By its name. */
  readonly mode: string | null;
  /** Last, m above home. */
  readonly height: number | null;
  /** When the vehicle was heard before this, s. */
  readonly heardAt: number | null;
  /** When the log ends, s. */
  readonly end: number;
  /** First while armed, V. */
  readonly restingVolts: number | null;
  readonly amps: number | null;
  /** Highest and last supply of the autopilot while armed, V. */
  readonly board: { readonly highest: number; readonly last: number } | null;
  /** Change of the magnetic field against the one at arming, as a part of it. */
  readonly fieldChange: number;
  /** How far the field goes with the current of the motors, -1 to 1; null: nobody can say. */
  readonly fieldOfCurrent: number | null;
  /** Between what was wanted and what was so, degrees; null: nothing was wanted. */
  readonly attitudeError: number | null;
  /** How far the GPS position was from where speed and time had brought the vehicle, m; null: not known. */
  readonly jump: number | null;
  readonly clips: number | null;
  readonly glitches: number | null;
  /** As they are driven now. */
  readonly motors: readonly Motor[];
  /** µs, summed while flying. */
  readonly outputSums: readonly number[];
  readonly outputSamples: number;
  /** RPM of each ESC, last. */
  readonly rpms: readonly number[];
  /** Those that have worked in this flight. */
  readonly worked: ReadonlySet<number>;
}

type Reading = Partial<Sample> & Pick<Sample, 'value' | 'bounds'> & { readonly key?: string };

/** A documented limit, and how a flight is held against it. */
interface Rule extends SpellOptions {
  readonly name: string;
  /** Null: of every firmware. */
  readonly firmware: Firmware | null;
  /** The document that it follows. */
  readonly source: string;
  /** What to do about it. */
  readonly advice: string | ((key: string) => string);
  readonly unit: string;
  readonly levels?: readonly [Severity, Severity?];
  /** The limit, in words: it ends the text of the finding. */
  readonly limit: (flight: Judged) => string;
  readonly text: (found: Found, flight: Judged, key: string) => string;
  /** Of which fact; null: it is looked at once, at the end. */
  readonly on: Fact['kind'] | null;
  readonly read: (fact: Fact | null, flight: Judged) => Reading | null;
}

const AP = 'https://ardupilot.org/copter/docs/';
const AP_VIBRATION = `${AP}common-measuring-vibration.html`;
const AP_LOGS = `${AP}common-diagnosing-problems-using-logs.html`;
const AP_EKF = `${AP}ekf-inav-failsafe.html`;
const AP_BATTERY = `${AP}failsafe-battery.html`;
const AP_CRASH = `${AP}crash_check.html`;
const AP_THRUST = `${AP}thrust-loss-yaw-imbalance.html`;
const AP_ANALYZER = 'https://github.com/ArduPilot/ardupilot/blob/Copter-4.0.7/Tools/LogAnalyzer/tests';
const AP_PARAMS = `${AP}parameters.html`;
const PX4 = 'https://docs.px4.io/main/en/';
const PX4_ESTIMATOR = 'https://github.com/PX4/PX4-Autopilot/blob/main/msg/EstimatorStatus.msg';
const PX4_REVIEW = `${PX4}log/flight_review.html`;
const PX4_DETECTOR = `${PX4}config/safety.html#failure-detector`;

/** A bound of ours: the document says what to look at, not from which number on. */
const ours = (document: string): string => `ours, after ${document}`;

/** ArduPilot's FS_EKF_THRESH where the log does not have it (ArduCopter/config.h). */
const EKF_THRESHOLD = 0.8;
/** EKF_CHECK_ITERATIONS_MAX at 10 Hz (ArduCopter/ekf_check.cpp). */
const EKF_CHECK_S = 1;
/** Full, V: a pack has as many cells as it takes. */
const FULL_CELL = 4.3;
/** Modes in which a copter tips over by will. */
const ACROBATIC = /^(?:ACRO|FLIP|SPORT|THROW|TURTLE|DRIFT)$/;
/** GPS positions may be that far away from where they are expected: EK3_GLITCH_RAD, m. */
const GLITCH_M = 25;
/** Of the range of the outputs. */
export const SATURATED = 0.92;
const FAR_BELOW = 0.5;
/** Degrees from the attitude that was wanted. */
export const ASTRAY = 15;
const MAX_OUTPUTS = 32;
/** Of a motor that flies a vehicle. */
export const WORKING_RPM = 1000;
/** SERVOn_FUNCTION of motors 1 to 8 and 9 to 12 (https://ardupilot.org/copter/docs/parameters.html#servo1-function). */
const motorOf = (output: number): number =>
  output >= 33 && output <= 40 ? output - 32 : output >= 82 && output <= 85 ? output - 73 : 0;

const FAILSAFE_ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /radio|\brc\b|manual control/i,
    'Check the receiver, its aerials and the range; set what the vehicle does without radio.',
  ],
  [/batter/i, 'Land earlier, and check the pack and the thresholds.'],
  [/ground station|gcs|data ?link/i, 'Check the telemetry link; set what the vehicle does without it.'],
  [
    /gps|ekf|estimat|dead reckoning|position/i,
    'Look at compass, GPS and vibration before it: the estimate was lost.',
  ],
  [/fence/i, 'Compare the plan with the fence.'],
];

/** In the order from cause to effect, which decides where two begin at once. */
export const RULES: readonly Rule[] = [
  {
    name: 'parameter',
    firmware: null,
    source: `${AP_PARAMS}#servo1-function`,
    advice: 'Find out who set it: nothing that a motor or a failsafe needs is changed in flight.',
    unit: '',
    join: Infinity,
    levels: ['info', 'critical'],
    limit: () => 'An output without the function of a motor (33 to 40, 82 to 85) does not turn one.',
    text: ({ worst }, _, name) => `${name} was changed in flight${worst.note}.`,
    ...when('param', ({ name, value }, { changedFrom, landed }) => {
      if (changedFrom === null || landed === true) return null;
      const isTaken = name.startsWith('SERVO') && motorOf(changedFrom) > 0 && motorOf(value) === 0;
      return {
        value: 1,
        bounds: isTaken ? [0, 0] : [0],
        key: name,
        note: ` from ${rounded(changedFrom)} to ${rounded(value)}`,
      };
    }),
  },
  {
    name: 'brown-out',
    firmware: null,
    source: `${AP_ANALYZER}/TestVCC.py`,
    advice:
      'Feed the autopilot from a supply of its own; take servos and cameras off it; check plug and power module.',
    unit: 'V',
    beyond: 'below',
    limit: () =>
      'It should not fall below 4.6 V, nor 0.3 V below what it was (ArduPilot LogAnalyzer), and never below 4.3 V (BRD_VBUS_MIN).',
    text: ({ worst }) => `The supply of the autopilot fell to ${volts(worst.value)}.`,
    ...when('board', (fact, { board }) =>
      board === null || fact.volts !== board.last
        ? null
        : { value: fact.volts, bounds: [Math.max(4.6, board.highest - 0.3), 4.3] },
    ),
  },
  {
    name: 'battery voltage',
    firmware: 'ardupilot',
    source: AP_BATTERY,
    advice:
      'Charge or replace the pack, check its plugs, and fly with less load; BATT_LOW_VOLT must leave time to land.',
    unit: 'V',
    beyond: 'below',
    limit: ({ params, restingVolts }) =>
      limitsOf(params) === null
        ? `A LiPo cell should stay above 3.3 V under load (MOT_BAT_VOLT_MIN), and never be below 3.0 V; by ${volts(restingVolts ?? undefined)} at arming it has ${cellsOf(restingVolts ?? 0)}, and the vehicle has no limits of its own.`
        : `The vehicle's own limits are ${volts(params.get('BATT_LOW_VOLT'))} (BATT_LOW_VOLT) and ${volts(params.get('BATT_CRT_VOLT'))} (BATT_CRT_VOLT).`,
    text: ({ worst }) => `The battery sagged to ${volts(worst.value)}${worst.note}.`,
    ...when('voltage', (fact, { params, restingVolts, amps, firmware }) => {
      const cells = cellsOf(restingVolts ?? 0);
      const bounds = limitsOf(params) ?? (cells > 1 && firmware !== null ? [3.3 * cells, 3 * cells] : null);
      // Nobody takes off with an empty pack: it has not so many cells, or is not measured.
      if (bounds === null || (limitsOf(params) === null && (restingVolts ?? 0) < bounds[0])) return null;
      return { value: fact.volts, bounds, note: amps === null ? '' : ` at ${amps.toFixed(0)} A` };
    }),
  },
  {
    name: 'battery cells',
    firmware: 'px4',
    source: `${PX4}advanced_config/parameter_reference.html#BAT1_V_EMPTY`,
    advice: 'Charge or replace the pack, and fly with less load.',
    unit: 'V',
    beyond: 'below',
    limit: (flight) => `A cell counts as empty at ${volts(emptyCellOf(flight))} (BAT1_V_EMPTY).`,
    text: ({ worst }) => `A cell sagged to ${volts(worst.value)}${worst.note}.`,
    ...when('cell', (fact, flight) => ({
      value: fact.volts,
      bounds: [emptyCellOf(flight)],
      note: flight.amps === null ? '' : ` at ${flight.amps.toFixed(0)} A`,
    })),
  },
  {
    name: 'battery state',
    firmware: null,
    source: 'https://mavlink.io/en/messages/common.html#MAV_BATTERY_CHARGE_STATE',
    advice: 'Land earlier, and check the pack and the thresholds.',
    unit: '',
    join: Infinity,
    limit: () => "By the vehicle's own thresholds.",
    text: ({ level }) => `The vehicle called its battery ${level === 2 ? 'critical' : 'low'}.`,
    ...when('battery-state', ({ state }) => ({ value: state === 'critical' ? 2 : 1, bounds: [0, 1] })),
  },
  {
    name: 'ESC',
    firmware: null,
    source: ours(`${AP}common-esc-telemetry.html`),
    advice: 'Check that motor, its ESC, their wires and bearings before the next flight.',
    unit: 'rpm',
    beyond: 'below',
    hold: 0.3,
    levels: ['critical'],
    limit: () => 'All motors of a copter turn while it flies.',
    text: ({ worst }) => `${worst.note} turned at ${worst.value.toFixed(0)} rpm while the others worked.`,
    ...when('esc', ({ index, rpm }, { rpms, worked, landed }) => {
      const others = rpms
        .filter((_, other) => other !== index && worked.has(other))
        .toSorted((a, b) => a - b);
      const middle = others[others.length >> 1] ?? 0;
      if (landed === true || !worked.has(index) || middle < WORKING_RPM) return null;
      return { value: rpm, bounds: [middle / 5], key: String(index), note: `ESC ${index + 1}` };
    }),
  },
  {
    name: 'motor lost',
    firmware: null,
    source: ours(AP_THRUST),
    advice: 'Check that motor, its propeller and its ESC before the next flight.',
    unit: 'µs',
    hold: 0.4,
    join: 0.3,
    levels: ['critical'],
    limit: () =>
      'A motor at its limit while the opposite one falls gives too little thrust (ArduPilot thrust loss check).',
    text: ({ worst }) => `${worst.note}.`,
    ...when('outputs', ({ of }, flight) => {
      if (!hovers(flight) || flight.landed === true) return null;
      const [least, most] = rangeOf(flight.params);
      return lostOf(flight.motors, least + SATURATED * (most - least), of);
    }),
  },
  {
    name: 'motor lost',
    firmware: 'px4',
    source: ours(PX4_DETECTOR),
    advice: 'Check that motor, its propeller and its ESC before the next flight.',
    unit: '',
    hold: 0.4,
    join: 0.3,
    levels: ['critical'],
    limit: () => 'A motor at its limit while the opposite one falls gives too little thrust.',
    text: ({ worst }) => `${worst.note}.`,
    ...when('motors', ({ parts, of }, flight) =>
      flight.rotary === false || flight.landed === true
        ? null
        : lostOf(
            parts.flatMap((part, index) =>
              Number.isFinite(part) ? [{ motor: index + 1, output: index, part, us: part }] : [],
            ),
            SATURATED,
            of,
          ),
    ),
  },
  verdict(
    'thrust loss',
    AP_THRUST,
    'critical',
    'Check motors, propellers and ESCs, and whether the vehicle is too heavy.',
  ),
  verdict('ESC failure', PX4_DETECTOR, 'critical', 'Check the ESCs and their wires.'),
  verdict('motor failure', PX4_DETECTOR, 'critical', 'Check motors, propellers and ESCs.'),
  {
    name: 'vibration',
    firmware: 'ardupilot',
    source: AP_VIBRATION,
    advice: 'Balance propellers and motors, tighten what is loose, and mount the autopilot on dampers.',
    unit: 'm/s²',
    // "Mostly below": a touch of the ground is no vibration.
    hold: 1,
    limit: () => 'Up to 30 m/s² is acceptable, above 60 m/s² nearly always a problem (ArduPilot).',
    text: ({ worst }) => `The vibration was up to ${worst.value.toFixed(1)} m/s².`,
    ...when('vibration', ({ level }) => ({ value: level, bounds: [30, 60] })),
  },
  {
    name: 'vibration',
    firmware: 'px4',
    source: PX4_REVIEW,
    advice: 'Balance propellers and motors, tighten what is loose, and mount the autopilot on dampers.',
    unit: 'm/s²',
    hold: 1,
    limit: () => 'Above 9.8 m/s² Flight Review shows it red (PX4).',
    text: ({ worst }) => `The vibration was up to ${worst.value.toFixed(1)} m/s².`,
    ...when('vibration', ({ level }) => ({ value: level, bounds: [9.81] })),
  },
  {
    name: 'clipping',
    firmware: 'ardupilot',
    source: AP_VIBRATION,
    advice: 'Mount the autopilot softer; a shock or a loose part shakes it beyond what it can measure.',
    unit: '',
    join: Infinity,
    levels: ['info', 'critical'],
    limit: () => 'None is ideal, and 100 or more are a serious vibration problem (ArduPilot).',
    text: (_, { clips }) => `An accelerometer was ${clips ?? 0} times at its limit.`,
    ...when('clips', (_, { clips }) => (clips === null ? null : { value: clips, bounds: [0, 99] })),
  },
  {
    name: 'accelerometer',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    advice: 'Mount the autopilot softer, and look at vibration and clipping.',
    unit: '',
    join: Infinity,
    levels: ['critical'],
    limit: () => 'PX4 sets this flag when vibration or clipping make them unusable (solution_status_flags).',
    text: () => 'The estimator rejected the accelerometers.',
    ...when('bad-accelerometer', () => ({ value: 1, bounds: [0] })),
  },
  {
    name: 'compass field',
    firmware: null,
    source: AP_LOGS,
    advice: 'Move the compass away from motors and power wires, or use an external one; then calibrate it.',
    unit: '%',
    limit: () => 'Up to 30 % is acceptable, above 60 % is bad interference (ArduPilot).',
    text: ({ worst }, { fieldOfCurrent: r }) =>
      `The magnetic field changed by up to ${worst.value.toFixed(0)} % since arming${
        r !== null && Math.abs(r) > 0.7
          ? `, with the current of the motors (correlation ${r.toFixed(2)})`
          : ''
      }.`,
    ...when('field', (_, { fieldChange }) => ({ value: 100 * fieldChange, bounds: [30, 60] })),
  },
  {
    name: 'GPS fix',
    firmware: null,
    source: AP_LOGS,
    advice: 'Look for what shades or disturbs the receiver: cameras, video transmitters, buildings.',
    unit: '',
    limit: () => 'A flight by GPS has a 3D fix all the time.',
    text: () => 'The GPS lost its 3D fix.',
    ...when('fix', ({ is3d }, { landed }) => (landed === true ? null : { value: is3d ? 0 : 1, bounds: [0] })),
  },
  {
    name: 'GPS jump',
    firmware: null,
    source: `${AP}gps-failsafe-glitch-protection.html`,
    advice: 'Look for what shades or disturbs the receiver; do not fly by GPS beside high walls.',
    unit: 'm',
    join: 5,
    limit: () => `Up to ${GLITCH_M} m are taken for precision (EK3_GLITCH_RAD).`,
    text: ({ worst }) => `The GPS position jumped by ${worst.value.toFixed(0)} m.`,
    ...when('fix', ({ of }, { jump }) =>
      jump === null ? null : { value: jump, bounds: [GLITCH_M], of: fieldOf(of, 'place') },
    ),
  },
  {
    name: 'GPS glitch',
    firmware: null,
    source: AP_LOGS,
    advice: 'Look for what shades or disturbs the receiver.',
    unit: '',
    lasts: true,
    limit: () => 'None is expected.',
    text: (_, { glitches }) => `The vehicle saw ${glitches ?? 0} GPS glitches.`,
    ...when('glitch', ({ active }) => ({ value: active ? 1 : 0, bounds: [0] })),
  },
  {
    name: 'GPS precision',
    firmware: 'ardupilot',
    source: AP_LOGS,
    advice: 'Wait for more satellites before arming; give the receiver a free sky.',
    unit: '',
    limit: () => 'Above 2.0 positions may not be good (ArduPilot).',
    text: ({ worst }) => `The HDOP of the GPS was up to ${worst.value.toFixed(2)}.`,
    ...when('gps', ({ hdop, of }) =>
      hdop === null ? null : { value: hdop, bounds: [2], of: fieldOf(of, 'hdop') },
    ),
  },
  satellites('ardupilot', AP_LOGS, 'Fewer than 12 are bad (ArduPilot).'),
  satellites('px4', `${PX4_REVIEW}#gps-uncertainty`, 'About 12 or more are expected (PX4).'),
  {
    name: 'compass',
    firmware: 'ardupilot',
    source: AP_EKF,
    advice: 'Calibrate the compass away from iron, and look at its field.',
    unit: '',
    hold: EKF_CHECK_S,
    limit: (flight) => `The limit is ${thresholdOf(flight)} (FS_EKF_THRESH) for ${EKF_CHECK_S} s.`,
    text: ({ worst }) => `The compass variance of the EKF was up to ${worst.value.toFixed(2)}.`,
    ...when('ekf', ({ compass, of }, flight) => ({
      value: compass,
      bounds: [thresholdOf(flight)],
      of: fieldOf(of, 'compass'),
    })),
  },
  {
    name: 'compass',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    advice: 'Calibrate the compass away from iron, and look at its field.',
    unit: '',
    limit: () => 'Above 1 the measurement is rejected (PX4).',
    text: ({ worst }) => `The test ratio of the compass was up to ${worst.value.toFixed(2)}.`,
    ...when('ekf', ({ compass, of }) => ({ value: compass, bounds: [1], of: fieldOf(of, 'compass') })),
  },
  verdict(
    'EKF lane switch',
    AP_EKF,
    'warning',
    'Compare the sensors of both lanes (IMU, compass, GPS): one of them is wrong.',
  ),
  {
    name: 'EKF',
    firmware: 'ardupilot',
    source: AP_EKF,
    advice: 'Look at vibration, compass and GPS at that time: one of them misled the estimator.',
    unit: '',
    worseHold: EKF_CHECK_S,
    limit: (flight) =>
      `The check fails at ${thresholdOf(flight)} (FS_EKF_THRESH) of two of compass, position and velocity, or at twice that of the velocity, for ${EKF_CHECK_S} s.`,
    text: ({ worst }) => `The variances of the EKF reached ${worst.value.toFixed(2)}.`,
    ...when('ekf', (fact, flight) => ({
      value: ardupilotVariance(fact),
      bounds: [thresholdOf(flight), thresholdOf(flight)],
    })),
  },
  {
    name: 'EKF',
    firmware: 'px4',
    source: PX4_ESTIMATOR,
    advice: 'Look at vibration and GPS at that time: one of them misled the estimator.',
    unit: '',
    limit: () => 'Above 1 the measurement is rejected (PX4).',
    text: ({ worst }) => `A test ratio of velocity, position or height was up to ${worst.value.toFixed(2)}.`,
    ...when('ekf', (fact) => ({ value: worstRatio(fact), bounds: [1] })),
  },
  {
    name: 'attitude',
    firmware: null,
    source: AP_CRASH,
    advice:
      'Before it, look for a motor at its limit, a lost propeller, or a loose arm: the vehicle did not follow.',
    unit: '°',
    hold: 0.5,
    worseHold: 2,
    limit: () =>
      `More than ${ASTRAY}° is bad tuning or a fault (ours); above 30° for 2 s ArduPilot takes it for a crash.`,
    text: ({ worst }) => `The attitude was up to ${worst.value.toFixed(0)}° away from what was wanted.`,
    ...when('attitude', (_, flight) => {
      const { attitudeError, landed } = flight;
      if (attitudeError === null || landed === true || !hovers(flight)) return null;
      return { value: attitudeError, bounds: [ASTRAY, 30] };
    }),
  },
  {
    name: 'tipped over',
    firmware: null,
    source: PX4_DETECTOR,
    advice: 'Look at what began before it.',
    unit: '°',
    hold: 0.3,
    levels: ['critical'],
    limit: () => 'Above 60° PX4 calls the attitude a failure (FD_FAIL_R, FD_FAIL_P).',
    text: ({ worst }) => `It leaned by ${worst.value.toFixed(0)}°.`,
    ...when('attitude', ({ roll, pitch }, flight) => {
      if (!hovers(flight) || (flight.mode !== null && ACROBATIC.test(flight.mode))) return null;
      return { value: Math.max(Math.abs(roll), Math.abs(pitch)), bounds: [60] };
    }),
  },
  verdict('attitude failure', PX4_DETECTOR, 'critical', 'Look at what began before it.'),
  {
    name: 'failsafe',
    firmware: null,
    source: `${AP}failsafe-landing-page.html`,
    advice: (name) =>
      FAILSAFE_ADVICE.find(([pattern]) => pattern.test(name))?.[1] ?? 'Look at what began before it.',
    unit: '',
    lasts: true,
    levels: ['critical'],
    limit: () => 'None is expected.',
    text: (_, __, name) => `Failsafe: ${name}.`,
    ...when('failsafe', ({ name, active }) => ({ value: active ? 1 : 0, bounds: [0], key: name })),
  },
  {
    name: 'impact',
    firmware: null,
    source: ours(AP_LOGS),
    advice: 'Look at frame, propellers and sensors before the next flight.',
    unit: 'm/s²',
    limit: () => 'A flight stays far below 6 g (59 m/s²); a hard landing has 6 to 12 g, a crash more (ours).',
    text: ({ worst }) => `A shock of ${(worst.value / 9.81).toFixed(1)} g hit the vehicle.`,
    ...when('acceleration', ({ length }) => ({ value: length, bounds: [58.8, 117.7] })),
  },
  verdict('crash', AP_CRASH, 'critical', 'Look at what began before it.'),
  verdict(
    'trouble',
    AP_LOGS,
    'warning',
    'Look up this error of the firmware, and what the log has at that time.',
  ),
  {
    name: 'telemetry',
    firmware: null,
    source: 'https://mavlink.io/en/services/heartbeat.html',
    advice: 'Check aerials, power and distance of the telemetry link.',
    unit: 's',
    limit: () => 'A vehicle says once a second that it is there; after 5 s it counts as lost.',
    text: ({ worst }) => `Nothing was heard of the vehicle for up to ${worst.value.toFixed(0)} s.`,
    ...when('armed', (_, { log, heardAt, end }) =>
      log !== 'tlog' || heardAt === null
        ? null
        : { value: end - heardAt, bounds: [5], from: heardAt, of: 'HEARTBEAT.type' },
    ),
  },
  {
    name: 'ends in the air',
    firmware: null,
    source: `${AP_ANALYZER}/TestBrownout.py`,
    advice:
      'Look at the supply of the autopilot: a log that stops in flight is what a brown-out or a crash leaves.',
    unit: 's',
    levels: ['info', 'critical'],
    limit: () => 'A log ends after the landing, unless power or contact was lost.',
    text: ({ worst }) => `The log ends in flight${worst.note}.`,
    on: null,
    read: (_, { armed, landed, height, board, log, end }) => {
      const isAloft = landed === false || (landed === null && height !== null && height > 3);
      if (armed !== true || !isAloft) return null;
      const where = height === null ? '' : `, ${height.toFixed(0)} m high`;
      const supply = board === null ? '' : `, with ${volts(board.last)} at the autopilot`;
      const of =
        log === 'dataflash'
          ? 'EV.Id'
          : log === 'ulog'
            ? 'vehicle_status.arming_state'
            : 'HEARTBEAT.base_mode';
      // A telemetry log is also that of a flight that goes on.
      return { value: end, bounds: log === 'tlog' ? [0] : [0, 0], note: where + supply, from: end, of };
    },
  },
  {
    name: 'motor balance',
    firmware: 'ardupilot',
    // The limits of ArduPilot's own analyzer, which Mission Planner runs.
    source: `${AP_ANALYZER}/TestMotorBalance.py`,
    advice: 'Check the centre of gravity, straight motors and arms, and the propellers.',
    unit: 'µs',
    limit: () => 'Above 75 µs is a warning, above 150 µs a failure (ArduPilot LogAnalyzer).',
    text: ({ worst }) => `The mean outputs of the motors differ by ${worst.value.toFixed(0)} µs.`,
    on: null,
    read: (_, flight) => {
      const motors = motorMeansOf(flight);
      if (flight.family !== 'copter' || motors.length < 3) return null;
      return { value: Math.max(...motors) - Math.min(...motors), bounds: [75, 150], from: 0, of: 'RCOU.C1' };
    },
  },
];

/** Rules of a fact, by its kind. */
const BY_KIND = Map.groupBy(RULES, ({ on }) => on);
/** A log may have a failsafe of any name. */
const MAX_KEYS = 16;

/** Holds a flight against the rules, as it is told. */
export class Findings {
  readonly #spells = new Map<Rule, Map<string, Spell>>();

  take(at: number, fact: Fact, flight: Judged): void {
    for (const rule of BY_KIND.get(fact.kind) ?? []) this.#hold(rule, at, fact, flight);
  }

  /** In the order in which they began, from cause to effect. */
  found(flight: Judged): readonly Finding[] {
    for (const rule of BY_KIND.get(null) ?? []) this.#hold(rule, flight.end, null, flight);
    return RULES.flatMap((rule) =>
      [...(this.#spells.get(rule) ?? [])].flatMap(([key, spell]) => {
        const found = spell.found(flight.end);
        return found === null ? [] : [findingOf(rule, found, flight, key)];
      }),
    ).toSorted((a, b) => (a.from ?? 0) - (b.from ?? 0));
  }

  #hold(rule: Rule, at: number, fact: Fact | null, flight: Judged): void {
    if (rule.firmware !== null && rule.firmware !== flight.firmware) return;
    const reading = rule.read(fact, flight);
    if (reading === null) return;
    const { key = '', of = fact?.of ?? '', note = '' } = reading;
    const keys = this.#spells.get(rule) ?? new Map<string, Spell>();
    this.#spells.set(rule, keys);
    const spell = keys.get(key) ?? new Spell(rule);
    if (!keys.has(key) && keys.size >= MAX_KEYS) return;
    keys.set(key, spell);
    spell.take(at, { ...reading, of, note });
  }
}

function findingOf(rule: Rule, found: Found, flight: Judged, key: string): Finding {
  const { name, unit, source, advice, levels: [least, most = least] = ['warning', 'critical'] } = rule;
  const { from, to, at, worst, level, times } = found;
  const [message = '', field = ''] = worst.of.split(/\.(.*)/s);
  const [first, second] = worst.bounds;
  return {
    severity: level === 2 ? most : least,
    text: `${rule.text(found, flight, key)} ${rule.limit(flight)}`,
    at_s: rule.on === null && name === 'motor balance' ? null : rounded(at),
    name,
    from: rounded(from),
    to: rounded(to),
    times,
    evidence: {
      message,
      field,
      value: rounded(worst.value),
      bound: rounded((level === 2 ? second : first) ?? first),
      unit,
    },
    source,
    advice: typeof advice === 'string' ? advice : advice(key),
  };
}

/** How a rule reads one kind of facts. */
function when<K extends Fact['kind']>(
  on: K,
  read: (fact: FactOf<K>, flight: Judged) => Reading | null,
): Pick<Rule, 'on' | 'read'> {
  return { on, read: (fact, flight) => (fact !== null && isOf(on, fact) ? read(fact, flight) : null) };
}

function isOf<K extends Fact['kind']>(kind: K, fact: Fact): fact is Extract<Fact, FactOf<K>> {
  return fact.kind === kind;
}

/** Of what the firmware has found itself. */
function verdict(wanted: Verdict, source: string, severity: Severity, advice: string): Rule {
  return {
    name: wanted,
    firmware: null,
    source,
    advice,
    unit: '',
    join: Infinity,
    levels: [severity],
    limit: () => "By the vehicle's own check.",
    text: ({ worst }) => `The vehicle said: ${worst.note.replace(/\.$/, '')}.`,
    ...when('verdict', ({ what, text }) =>
      what === wanted
        ? { value: 1, bounds: [0], note: text, ...(what === 'trouble' ? { key: text } : {}) }
        : null,
    ),
  };
}

function satellites(firmware: Firmware, source: string, limit: string): Rule {
  return {
    name: 'satellites',
    firmware,
    source,
    advice: 'Wait for more satellites before arming; give the receiver a free sky.',
    unit: '',
    beyond: 'below',
    levels: ['info'],
    limit: () => limit,
    text: ({ worst }) => `The GPS had ${worst.value} satellites at the least.`,
    ...when('gps', ({ satellites: value }) => (value === null ? null : { value, bounds: [12] })),
  };
}

export interface MotorLayout {
  readonly least: number;
  readonly most: number;
  readonly outputs: readonly { readonly motor: number; readonly output: number }[];
}

export interface Motor {
  readonly motor: number;
  /** From 0. */
  readonly output: number;
  readonly part: number;
  /** As the log has it. */
  readonly us: number;
}

type Params = Judged['params'];

/** Outputs of nothing and of all, µs. */
function rangeOf(params: Params): readonly [least: number, most: number] {
  return [params.get('MOT_PWM_MIN') || 1000, params.get('MOT_PWM_MAX') || 2000];
}

/** Which outputs the parameters call motors, and their range. */
export function motorLayoutOf(params: Params): MotorLayout {
  const [least, most] = rangeOf(params);
  return {
    least,
    most,
    outputs: Array.from({ length: MAX_OUTPUTS }, (_, output) => ({
      output,
      motor: motorOf(params.get(`SERVO${output + 1}_FUNCTION`) ?? 0),
    })).filter(({ motor }) => motor > 0),
  };
}

export function motorsOf(pwm: readonly number[], { least, most, outputs }: MotorLayout): readonly Motor[] {
  return outputs.flatMap(({ output, motor }) => {
    const us = pwm[output] ?? 0;
    return us === 0 ? [] : [{ motor, output, part: (us - least) / (most - least), us }];
  });
}

/** A motor at its limit whose opposite was taken back: in frames of 4 and 6 motors 1 and 2, 3 and 4, 5 and 6 face each other. */
function lostOf(motors: readonly Motor[], bound: number, of = ''): Reading | null {
  if (motors.length < 4) return null;
  const lowest = motors.reduce((a, b) => (b.part < a.part ? b : a));
  const highest = motors.reduce((a, b) => (b.part > a.part ? b : a));
  if (highest.us <= bound) return { value: highest.us, bounds: [bound] };
  const isOpposite = motors.length > 6 || (lowest.motor + 1) >> 1 === (highest.motor + 1) >> 1;
  const isLost = isOpposite && highest.part - lowest.part > FAR_BELOW;
  return {
    value: isLost ? highest.us : Math.min(highest.us, bound),
    bounds: [bound],
    of: of.replace('#', String(highest.output + 1)).replace('@', String(highest.output)),
    note: `Motor ${highest.motor} was at its limit (${figure(highest.us)}) while motor ${lowest.motor}, opposite of it, was taken back to ${figure(lowest.us)}`,
  };
}

/** Another field of the message that a fact is of. */
function fieldOf(of: string | undefined, what: string): string {
  const [message = ''] = (of ?? '').split('.');
  return `${message}.${FIELDS[what]?.[message] ?? ''}`;
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compass: {
    XKF4: 'SM',
    NKF4: 'SM',
    estimator_status: 'hdg_test_ratio',
    EKF_STATUS_REPORT: 'compass_variance',
    ESTIMATOR_STATUS: 'mag_ratio',
  },
  hdop: { GPS: 'HDop', GPS_RAW_INT: 'eph' },
  place: { GPS: 'Lat', GPS_RAW_INT: 'lat', vehicle_gps_position: 'latitude_deg' },
};

function figure(value: number): string {
  return value <= 1 ? value.toFixed(2) : `${value.toFixed(0)} µs`;
}

function hovers({ family, rotary }: Judged): boolean {
  return family === 'copter' || (family === 'px4' && rotary === true);
}

/** BATT_LOW_VOLT and BATT_CRT_VOLT as bounds; null: the vehicle has none. */
function limitsOf(params: Judged['params']): Sample['bounds'] | null {
  const [low, critical] = [params.get('BATT_LOW_VOLT') ?? 0, params.get('BATT_CRT_VOLT') ?? 0];
  if (low <= 0 && critical <= 0) return null;
  return critical > 0 ? [Math.max(low, critical), critical] : [low];
}

function cellsOf(resting: number): number {
  return Math.ceil(resting / FULL_CELL);
}

function thresholdOf({ params }: Judged): number {
  const set = params.get('FS_EKF_THRESH') ?? EKF_THRESHOLD;
  return set > 0 ? Number(set.toFixed(2)) : EKF_THRESHOLD;
}

function emptyCellOf({ params }: Judged): number {
  return params.get('BAT1_V_EMPTY') ?? params.get('BAT_V_EMPTY') ?? 3.6;
}

/** Mean outputs of those that the parameters call motors, µs. */
function motorMeansOf({ params, outputSums, outputSamples }: Judged): readonly number[] {
  if (outputSamples === 0) return [];
  return motorsOf(
    outputSums.map((sum) => sum / outputSamples),
    motorLayoutOf(params),
  ).map(({ us }) => us);
}

function worstRatio({ velocity, position, height }: FactOf<'ekf'>): number {
  return Math.max(...[velocity, position, height].filter(Number.isFinite));
}

/**
 * What ArduPilot's EKF check compares with FS_EKF_THRESH: it fails if two of the three are above it, or the velocity is above twice as
 * much (`ekf_over_threshold`, https://github.com/ArduPilot/ardupilot/blob/master/ArduCopter/ekf_check.cpp).
 */
function ardupilotVariance({ compass, velocity, position }: FactOf<'ekf'>): number {
  const [, second = 0] = [compass, velocity, position].filter(Number.isFinite).toSorted((a, b) => b - a);
  return Math.max(second, Number.isFinite(velocity) ? velocity / 2 : 0);
}

function volts(value: number | undefined): string {
  return value === undefined ? 'not known' : `${value.toFixed(2)} V`;
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
