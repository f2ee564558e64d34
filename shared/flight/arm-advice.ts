/**
 * What a person does about a failed check, by the words of the vehicle: those of ArduPilot 4.6 (libraries/AP_Arming/AP_Arming.cpp, each
 * vehicle's own AP_Arming) and of PX4 (src/modules/commander/HealthAndArmingChecks/checks). The page has these sentences in its own
 * languages.
 */
export const ARM_ADVICE = {
  compass: 'Move away from metal and cars. If that does not help, calibrate the compass.',
  accelerometer: 'Keep the vehicle still. If that does not help, calibrate the accelerometer, then reboot.',
  gyro: 'Keep the vehicle still for ten seconds. If that does not help, calibrate the gyroscope.',
  barometer: 'Shield the vehicle from wind and sun for a minute, or calibrate the barometer.',
  airspeed: 'Cover the airspeed tube and calibrate it.',
  level: 'Put the vehicle on level ground and wait. If that does not help, calibrate the level.',
  safety: 'Press the safety switch on the vehicle until it stays lit.',
  throttle: 'Pull the throttle stick all the way down.',
  mode: 'Choose a flight mode that allows arming, such as Stabilize, Loiter or Position.',
  radio: 'Switch the radio on. If that does not help, check the receiver and calibrate the radio.',
  battery: 'Charge or change the battery, and check its connector.',
  gps: 'Go outdoors with a clear view of the sky and wait for a 3D fix.',
  estimator: 'Keep the vehicle still and wait half a minute for a GPS fix.',
  fence: 'Move inside the fence, or change the fence on the Plan page.',
  logging: 'Check the flight controller’s memory card, or make room on it.',
  motors: 'With the propellers off, check the ESCs and their wiring.',
  failsafe: 'Clear the cause of the failsafe: radio, ground station or battery.',
  remoteId: 'Give the Remote ID transmitter what it asks for.',
  reboot: 'Reboot the flight controller.',
  usb: 'Unplug the USB cable, then reboot the flight controller.',
  stop: 'Release the emergency stop, on the radio or wherever it was set.',
  supply: 'Check the power supply of the flight controller and of the servos.',
  mission: 'Add what is missing to the mission on the Plan page, and upload it.',
  other: 'Look this message up in the firmware’s documentation.',
} as const;

export type ArmTopic = keyof typeof ARM_ADVICE;

/** The first that fits. "Battery level" is no matter of a level, "need 3D fix" of a fence is one of GPS. */
const TOPICS: readonly (readonly [words: RegExp, topic: ArmTopic])[] = [
  [/remote.?id|odid|opendroneid|arm_status/i, 'remoteId'],
  [/requires? (?:a )?reboot|reboot (?:required|needed)/i, 'reboot'],
  [/\busb\b/i, 'usb'],
  [/emergency.?stop|e-?stop\b|kill.?switch|interlock|flight termination/i, 'stop'],
  [/compass|\bmag\b|magnet|heading/i, 'compass'],
  [/accel|\bacc\b/i, 'accelerometer'],
  [/gyro|angular velocity/i, 'gyro'],
  [/\bbaro/i, 'barometer'],
  [/airspeed/i, 'airspeed'],
  [/^board \(|(?:board|servo) voltage|avionics|power (?:module|redundancy|unavailable)/i, 'supply'],
  [/batt|voltage/i, 'battery'],
  [/level|attitude|leaning/i, 'level'],
  [/safety (?:switch|button)/i, 'safety'],
  [/throttle/i, 'throttle'],
  [/flight ?mode|mode (?:not|requires|channel)|not armable/i, 'mode'],
  [/mission/i, 'mission'],
  [/\brc(?:\d+)?(?:\b|_)|radio|receiver|manual control|not neutral/i, 'radio'],
  [/\bgps\b|\bgnss\b|position|\bhome\b|hdop|satellite|\bfix\b/i, 'gps'],
  [/ekf|ahrs|\bdcm\b|estimat|variance|velocity|nav checks|altitude disparity/i, 'estimator'],
  [/fence/i, 'fence'],
  [/\blog|sd ?card/i, 'logging'],
  [/motor|esc\b|servo|output/i, 'motors'],
  [/failsafe|\bgcs\b|ground control/i, 'failsafe'],
];

/** @param source of the reason, as `prearm.reasons` has it */
export function armTopic(said: string, source: string): ArmTopic {
  if (source === 'remote_id') return 'remoteId';
  return TOPICS.find(([words]) => words.test(said))?.[1] ?? 'other';
}
