import { t } from '../strings.ts';

/**
 * What a person does about a failed check, by the words of the vehicle: those of ArduPilot 4.6 (libraries/AP_Arming/AP_Arming.cpp, each
 * vehicle's own AP_Arming) and of PX4 (src/modules/commander/HealthAndArmingChecks/checks).
 */

type Section = readonly [tab: 'setup' | 'link' | 'parameters' | 'logs', section: string];

interface Advice {
  readonly words: string;
  /** Where it is set; null: nowhere on this page. */
  readonly section: Section | null;
  /** A parameter that the vehicle names. */
  readonly param: string | null;
}

type Topic = keyof typeof t.vehicle.overview.advice;

/** The first that fits. "Battery level" is no matter of a level, "need 3D fix" of a fence is one of GPS. */
const TOPICS: readonly (readonly [words: RegExp, topic: Topic, section: Section | null])[] = [
  [/remote.?id|odid|opendroneid|arm_status/i, 'remoteId', ['link', 'remote-id']],
  [/requires? (?:a )?reboot|reboot (?:required|needed)/i, 'reboot', null],
  [/\busb\b/i, 'usb', null],
  [/emergency.?stop|e-?stop\b|kill.?switch|interlock|flight termination/i, 'stop', ['setup', 'radio']],
  [/compass|\bmag\b|magnet|heading/i, 'compass', ['setup', 'sensors']],
  [/accel|\bacc\b/i, 'accelerometer', ['setup', 'sensors']],
  [/gyro|angular velocity/i, 'gyro', ['setup', 'sensors']],
  [/\bbaro/i, 'barometer', ['setup', 'sensors']],
  [/airspeed/i, 'airspeed', ['setup', 'sensors']],
  [/^board \(|(?:board|servo) voltage|avionics|power (?:module|redundancy|unavailable)/i, 'supply', null],
  [/batt|voltage/i, 'battery', null],
  [/level|attitude|leaning/i, 'level', ['setup', 'sensors']],
  [/safety (?:switch|button)/i, 'safety', null],
  [/throttle/i, 'throttle', ['setup', 'radio']],
  [/flight ?mode|mode (?:not|requires|channel)|not armable/i, 'mode', ['setup', 'modes']],
  [/mission/i, 'mission', null],
  [/\brc(?:\d+)?(?:\b|_)|radio|receiver|manual control|not neutral/i, 'radio', ['setup', 'radio']],
  [/\bgps\b|\bgnss\b|position|\bhome\b|hdop|satellite|\bfix\b/i, 'gps', null],
  [/ekf|ahrs|\bdcm\b|estimat|variance|velocity|nav checks|altitude disparity/i, 'estimator', null],
  [/fence/i, 'fence', null],
  [/\blog|sd ?card/i, 'logging', ['logs', 'vehicle']],
  [/motor|esc\b|servo|output/i, 'motors', ['setup', 'motors']],
  [/failsafe|\bgcs\b|ground control/i, 'failsafe', ['setup', 'failsafes']],
];
const PARAMETER = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b/;

/** @param source of the reason, as the node has it */
export function adviceFor(said: string, source: string): Advice {
  const [, topic, section] = (source === 'remote_id'
    ? TOPICS[0]
    : TOPICS.find(([words]) => words.test(said))) ?? [null, 'other' as const, null];
  return { words: t.vehicle.overview.advice[topic], section, param: PARAMETER.exec(said)?.[0] ?? null };
}
