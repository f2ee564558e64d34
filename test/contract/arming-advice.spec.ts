import { expect } from 'chai';
import { stepsOf } from '../../residual/web/src/pages/vehicle/overview/steps.ts';
import { t } from '../../residual/web/src/strings.ts';
import { adviceFor } from '../../residual/web/src/vehicle/advice.ts';
import { ARM_ADVICE } from '../../shared/flight/arm-advice.ts';

/** Sentences of ArduPilot 4.6 and PX4 as they send them, without "PreArm: " and "Preflight Fail: ". */
const SAID: readonly (readonly [topic: keyof typeof t.vehicle.overview.advice, ...said: string[]])[] = [
  ['remoteId', 'OpenDroneID: operator location must be set', 'OpenDroneID system missing'],
  ['reboot', 'Accels calibrated requires reboot', 'Compass calibrated requires reboot'],
  ['usb', 'Flying with USB is not safe', 'USB connected'],
  ['stop', 'Motors Emergency Stopped', 'Kill switch engaged', 'Motor Interlock Enabled'],
  [
    'compass',
    'Compass not healthy',
    'Check mag field: 901, max 875, min 185',
    'Compasses inconsistent',
    'Strong magnetic interference',
    'heading estimate invalid',
  ],
  ['accelerometer', '3D Accel calibration needed', 'Accels inconsistent', 'High Accelerometer Bias'],
  ['gyro', 'Gyros not calibrated', 'gyros still settling', 'Angular velocity not valid'],
  ['barometer', 'Barometer not healthy', 'Baro Sensor 0 missing'],
  ['airspeed', 'Airspeed 1 not healthy', 'airspeed invalid'],
  [
    'supply',
    'Board (4.2v) out of range 4.3-5.8v',
    'Servo voltage to low (4.12v < 4.50v)',
    'Avionics Power low:   4.41 Volt',
    'Power module not connected',
    'Power redundancy not met: 1 instead of 2',
  ],
  [
    'battery',
    'Battery 1 low voltage failsafe',
    'Low battery',
    'Emergency battery level',
    'Battery unhealthy',
  ],
  ['level', 'Leaning', 'No valid attitude estimate', 'EKF attitude is bad'],
  ['safety', 'Hardware safety switch', 'Press safety button first'],
  ['throttle', 'Throttle (RC3) is not neutral', 'VTOL Fwd Throttle is not zero', 'Throttle below Failsafe'],
  ['mode', 'Mode channel and RC7_OPTION conflict', 'Mode requires mission', 'Mode not suitable for arming'],
  ['mission', 'Missing mission item: takeoff', 'No valid mission available'],
  ['radio', 'Roll (RC1) is not neutral', 'RC3_MIN is greater than RC3_TRIM', 'Radio failsafe on'],
  ['radio', 'RC not found', 'RC calibrating', 'No manual control input'],
  ['gps', 'GPS 1: Bad fix', 'AHRS: waiting for home', 'Need 3D Fix', 'Fence enabled, need 3D Fix'],
  ['gps', 'not enough GPS Satellites', 'Home position required', 'horizontal position unstable'],
  ['estimator', 'Need Alt Estimate', 'EKF3 Yaw inconsistent', 'DCM Roll/Pitch inconsistent by 7 deg'],
  ['estimator', 'vertical velocity unstable', 'height estimate not stable', 'Waiting for Nav Checks'],
  ['fence', 'vehicle outside fence', 'Geofence violation'],
  ['logging', 'Logging failed', 'No SD card', 'Missing FMU SD Card'],
  ['motors', 'SERVO5_MIN is greater than SERVO5_TRIM', 'ESC telemetry missing'],
  ['failsafe', 'GCS failsafe on', 'No connection to the ground control station'],
  ['other', 'Internal errors 0x400 l:313 flow_of_ctrl', 'parameter storage full', 'ADSB threat detected'],
];

/** An ArduPilot that has been set up; each row changes one thing of it. */
const READY = {
  INS_ACCOFFS_X: 0.001,
  COMPASS_ENABLE: 1,
  COMPASS_DEV_ID: 97539,
  COMPASS_USE: 1,
  COMPASS_OFS_X: 5,
  COMPASS_DEV_ID2: 0,
  COMPASS_USE2: 1,
  COMPASS_OFS2_X: 0,
  RCMAP_ROLL: 1,
  RC1_MIN: 1003,
  RC1_MAX: 1997,
  FLTMODE1: 0,
  FLTMODE2: 5,
};
const PX4_READY = {
  CAL_GYRO0_ID: 1,
  CAL_ACC0_ID: 1,
  CAL_MAG0_ID: 1,
  SYS_HAS_MAG: 1,
  RC_MAP_ROLL: 1,
  RC_MAP_PITCH: 2,
  RC_MAP_YAW: 4,
  RC_MAP_THROTTLE: 3,
  RC_MAP_FLTMODE: 5,
  COM_RC_IN_MODE: 3,
};

describe('Before the first flight', () => {
  for (const [topic, ...said] of SAID)
    for (const words of said)
      it(`says what to do about "${words}"`, () => {
        expect(adviceFor({ text: words, source: 'statustext' }).words).to.equal(
          t.vehicle.overview.advice[topic],
        );
      });

  it('leads to the parameter that the vehicle names', () => {
    expect(adviceFor({ text: 'RC3_MIN is greater than RC3_TRIM', source: 'statustext' }).param).to.equal(
      'RC3_MIN',
    );
    expect(adviceFor({ text: 'Gyros not healthy', source: 'statustext' }).param).to.equal(null);
  });

  it('says in the words of the page which mode arms', () => {
    const help = { text: 'In words of the node', commands: [{ cmd: 'mode' as const, args: ['GUIDED'] }] };
    expect(adviceFor({ text: 'LAND mode not armable', source: 'mode', help }).words).to.equal(
      `${t.fly.switchTo({ mode: 'GUIDED' })}.`,
    );
  });

  it('says the same on the page, by the API and on the command line', () => {
    expect(ARM_ADVICE).to.deep.equal(t.vehicle.overview.advice);
  });

  it('has what to do for each sentence of the remote ID transmitter', () => {
    expect(adviceFor({ text: '?', source: 'remote_id' }).words).to.equal(t.vehicle.overview.advice.remoteId);
  });

  for (const [what, firmware, changes, wanted] of [
    ['all of an ArduPilot', 'copter', {}, { sensors: true, radio: true, modes: true }],
    ['an accelerometer without offsets', 'copter', { INS_ACCOFFS_X: 0 }, { sensors: false }],
    ['a compass without offsets', 'copter', { COMPASS_OFS_X: 0 }, { sensors: false }],
    ['a second compass without offsets', 'copter', { COMPASS_DEV_ID2: 7 }, { sensors: false }],
    [
      'a second compass that is not used',
      'copter',
      { COMPASS_DEV_ID2: 7, COMPASS_USE2: 0 },
      { sensors: true },
    ],
    ['no compass at all', 'copter', { COMPASS_ENABLE: 0, COMPASS_OFS_X: 0 }, { sensors: true }],
    ['a radio with the ends of the firmware', 'copter', { RC1_MIN: 1100, RC1_MAX: 1900 }, { radio: false }],
    [
      'a stick on another channel',
      'copter',
      { RCMAP_ROLL: 6, RC6_MIN: 1100, RC6_MAX: 1900 },
      { radio: false },
    ],
    ['a switch with one mode everywhere', 'plane', { FLTMODE1: 5 }, { modes: false }],
    ['all of a PX4', 'px4', {}, { sensors: true, radio: true, modes: true }],
    ['a PX4 whose compass was never calibrated', 'px4', { CAL_MAG0_ID: 0 }, { sensors: false }],
    ['a PX4 without a compass', 'px4', { CAL_MAG0_ID: 0, SYS_HAS_MAG: 0 }, { sensors: true }],
    ['a PX4 without a yaw stick', 'px4', { RC_MAP_YAW: 0 }, { radio: false }],
    [
      'a PX4 flown by joystick only',
      'px4',
      { RC_MAP_ROLL: 0, RC_MAP_FLTMODE: 0, COM_RC_IN_MODE: 1 },
      { radio: true, modes: true },
    ],
  ] as const)
    it(`judges ${what} by its parameters`, () => {
      const values = new Map<string, number>(
        Object.entries({ ...(firmware === 'px4' ? PX4_READY : READY), ...changes }),
      );
      expect(stepsOf(firmware, (name) => values.get(name) ?? null)).to.include(wanted);
    });

  it('says nothing of what no parameter tells', () => {
    expect(stepsOf('copter', () => null)).to.deep.equal({
      sensors: null,
      radio: null,
      modes: null,
      failsafes: null,
    });
  });
});
