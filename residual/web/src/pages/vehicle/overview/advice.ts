import { t } from '../../../strings.ts';

/** What a person does about a failed check, by the words of the vehicle: those of ArduPilot's AP_Arming and PX4's health checks. */

type Section = readonly [tab: 'setup' | 'link' | 'parameters' | 'logs', section: string];

interface Advice {
  readonly words: string;
  /** Where it is set; null: nowhere on this page. */
  readonly section: Section | null;
  /** A parameter that the vehicle names. */
  readonly param: string | null;
}

type Topic = keyof typeof t.vehicle.overview.advice;

/** The first that fits. */
const TOPICS: readonly (readonly [words: RegExp, topic: Topic, section: Section | null])[] = [
  [/remote.?id|odid|opendroneid|arm_status/i, 'remoteId', ['link', 'remote-id']],
  [/compass|\bmag\b|magnetometer|heading/i, 'compass', ['setup', 'sensors']],
  [/accel|\bacc\b/i, 'accelerometer', ['setup', 'sensors']],
  [/gyro/i, 'gyro', ['setup', 'sensors']],
  [/\bbaro/i, 'barometer', ['setup', 'sensors']],
  [/airspeed/i, 'airspeed', ['setup', 'sensors']],
  [/level|attitude|leaning/i, 'level', ['setup', 'sensors']],
  [/safety (?:switch|button)/i, 'safety', null],
  [/throttle/i, 'throttle', ['setup', 'radio']],
  [/flight ?mode|mode not|not armable|mode channel/i, 'mode', ['setup', 'modes']],
  [/\brc\b|radio|receiver|manual control/i, 'radio', ['setup', 'radio']],
  [/batt|voltage|power/i, 'battery', null],
  [/\bgps\b|\bgnss\b|position|\bhome\b|hdop|satellite/i, 'gps', null],
  [/ekf|ahrs|estimat|variance/i, 'estimator', null],
  [/fence|geofence/i, 'fence', null],
  [/log|sd ?card|storage/i, 'logging', ['logs', 'vehicle']],
  [/motor|esc\b|servo|output/i, 'motors', ['setup', 'motors']],
  [/failsafe/i, 'failsafe', ['setup', 'failsafes']],
];
const PARAMETER = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b/;

/** @param source of the reason, as the node has it */
export function adviceFor(said: string, source: string): Advice {
  const [, topic, section] = (source === 'remote_id'
    ? TOPICS[0]
    : TOPICS.find(([words]) => words.test(said))) ?? [null, 'other' as const, null];
  return { words: t.vehicle.overview.advice[topic], section, param: PARAMETER.exec(said)?.[0] ?? null };
}
