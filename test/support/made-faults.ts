import { DataflashWriter } from './dataflash-writer.ts';
import { UlogWriter } from './ulog-writer.ts';

/** What goes wrong in a made flight, and in which order it must be found. */
export interface MadeFault {
  readonly fault: string;
  /** Names of the findings of warning or above. */
  readonly found: readonly string[];
  /** When the first began, s. */
  readonly from: number;
  readonly log: () => Buffer;
}

const HERTZ = 20;
const TAKEOFF_S = 5;
const LAND_S = 55;
const END_S = 60;
const HOVER = 1500;
const EARTH = 500;

/** The flight at one moment. */
interface Moment {
  volts: number;
  amps: number;
  board: number;
  vibration: number;
  clips: number;
  field: number;
  satellites: number;
  hdop: number;
  /** Metres north. */
  north: number;
  height: number;
  velocityRatio: number;
  positionRatio: number;
  compassRatio: number;
  core: number;
  motors: readonly [number, number, number, number];
  roll: number;
  acceleration: number;
  radio: boolean;
}

/** Of one second and the next; what of it happens only once is told by `isNow`. */
type Change = (moment: Moment, s: number) => void;

interface Flown {
  readonly change: Change;
  /** Before the takeoff too. */
  readonly always?: boolean;
  /** The log ends then, as if there were no more power. */
  readonly cut?: number;
  /** The vehicle disarms itself. */
  readonly crash?: number;
  /** ERR by subsystem and code, and MSG, with their times. */
  readonly errors?: readonly (readonly [at: number, subsystem: number, code: number])[];
  readonly texts?: readonly (readonly [at: number, text: string])[];
  /** ArduPilot: PARM of a moment; at 0 beside those of each flight. */
  readonly params?: readonly (readonly [at: number, name: string, value: number])[];
}

function momentAt(s: number, { change, always = false }: Flown): Moment {
  const aloft = s > TAKEOFF_S && s < LAND_S;
  const sway = Math.sin(s * 1.3);
  const throttle = aloft ? HOVER : 1150;
  const moment: Moment = {
    volts: 16.4 - s * 0.01 - (aloft ? 0.4 : 0),
    amps: aloft ? 15 + sway : 1,
    board: 5.05 + 0.01 * sway,
    vibration: aloft ? 8 + 2 * sway : 1,
    clips: 0,
    field: EARTH + 4 * sway,
    satellites: 16,
    hdop: 0.8,
    north: Math.max(0, Math.min(s, LAND_S) - TAKEOFF_S),
    height: aloft ? Math.min(10, 2 * (s - TAKEOFF_S), 2 * (LAND_S - s)) : 0,
    velocityRatio: 0.1,
    positionRatio: 0.1,
    compassRatio: 0.1,
    core: 0,
    motors: [throttle + 10 * sway, throttle - 10 * sway, throttle + 5, throttle - 5],
    roll: 3 * sway,
    acceleration: 9.8,
    radio: true,
  };
  if (s > TAKEOFF_S || always) change(moment, s);
  return moment;
}

function dataflash(flown: Flown): Buffer {
  const log = new DataflashWriter();
  const params = {
    FRAME_CLASS: 1,
    FRAME_TYPE: 1,
    BATT_LOW_VOLT: 14.4,
    BATT_CRT_VOLT: 14,
    FS_EKF_THRESH: 0.8,
    MOT_PWM_MIN: 1000,
    MOT_PWM_MAX: 2000,
    SERVO1_FUNCTION: 33,
    SERVO2_FUNCTION: 34,
    SERVO3_FUNCTION: 35,
    SERVO4_FUNCTION: 36,
  };
  log.write('MSG', 0, { Message: 'ArduCopter V4.6.2 (1a2b3c4d)' });
  for (const [Name, Value] of Object.entries(params)) log.write('PARM', 0, { Name, Value });
  const end = flown.cut ?? flown.crash ?? END_S;
  const isNow = (s: number, at: number): boolean => Math.round(s * HERTZ) === Math.round(at * HERTZ);
  for (let n = 0; n <= end * HERTZ; n++) {
    const s = n / HERTZ;
    const now = momentAt(s, flown);
    if (isNow(s, 2)) log.write('MODE', s, { Mode: 5, ModeNum: 5, Rsn: 1 });
    if (isNow(s, 3)) log.write('EV', s, { Id: 10 });
    if (isNow(s, TAKEOFF_S)) log.write('EV', s, { Id: 28 });
    if (isNow(s, LAND_S)) log.write('EV', s, { Id: 18 });
    for (const [at, Subsys, ECode] of flown.errors ?? [])
      if (isNow(s, at)) log.write('ERR', s, { Subsys, ECode });
    for (const [at, Message] of flown.texts ?? []) if (isNow(s, at)) log.write('MSG', s, { Message });
    for (const [at, Name, Value] of flown.params ?? [])
      if (isNow(s, at)) log.write('PARM', s, { Name, Value });
    log.write('ATT', s, { DesRoll: 0, Roll: now.roll, AEKF: 3 });
    log.write('RCOU', s, Object.fromEntries(now.motors.map((us, motor) => [`C${motor + 1}`, us])));
    log.write('IMU', s, { AccZ: -now.acceleration, GH: 1, AH: 1, GHz: 1000, AHz: 1000 });
    if (n % 2 !== 0) continue;
    log.write('POWR', s, { Vcc: now.board, VServo: 5 });
    log.write('BAT', s, { Volt: now.volts, VoltR: now.volts + 0.2, Curr: now.amps, CurrTot: s * 4 });
    log.write('VIBE', s, {
      VibeX: now.vibration / 2,
      VibeY: now.vibration / 2,
      VibeZ: now.vibration,
      Clip: now.clips,
    });
    log.write('MAG', s, { MagX: now.field, Health: 1 });
    for (const C of [0, 1]) {
      const [SV, SP, SM] = [now.velocityRatio, now.positionRatio, now.compassRatio];
      log.write(
        'XKF4',
        s,
        C === 0 ? { C, SV, SP, SM, PI: now.core } : { C, SV: 0.1, SP: 0.1, SM: 0.1, PI: now.core },
      );
    }
    if (n % 4 !== 0) continue;
    const [Lat, Lng] = [47 + now.north / 111_195, 8];
    const aloft = now.height > 0;
    const time = { GWk: 2400, GMS: 1000 + s * 1000 };
    // As each log that begins before the arming.
    const hasFix = s > 2;
    log.write('GPS', s, {
      Status: hasFix ? 3 : 1,
      NSats: hasFix ? now.satellites : 0,
      HDop: hasFix ? now.hdop : 99.99,
      Lat,
      Lng,
      Alt: 400 + now.height,
      Spd: aloft ? 1 : 0,
      U: 1,
      ...time,
    });
    log.write('POS', s, { Lat, Lng, Alt: 400 + now.height, RelHomeAlt: now.height });
  }
  if (flown.cut === undefined) log.write('EV', end + 0.1, { Id: 11 });
  return log.bytes;
}

function ulog(flown: Flown): Buffer {
  const log = new UlogWriter(100);
  log.param('BAT1_V_EMPTY', 3.6);
  const end = flown.cut ?? flown.crash ?? END_S;
  const status = (at: number, armed: boolean): void =>
    log.data('vehicle_status', at, { arming_state: armed ? 2 : 1, nav_state: 3, vehicle_type: 1 });
  for (let n = 0; n <= end * HERTZ; n++) {
    const s = n / HERTZ;
    const at = 100 + s;
    const now = momentAt(s, flown);
    if (n % HERTZ === 0) {
      status(at, s >= 3);
      log.data('vehicle_land_detected', at, { landed: s < TAKEOFF_S || s >= LAND_S ? 1 : 0 });
    }
    const half = (now.roll * Math.PI) / 360;
    log.data('vehicle_attitude_setpoint', at, { q_d: [1, 0, 0, 0] });
    log.data('vehicle_attitude', at, { q: [Math.cos(half), Math.sin(half), 0, 0] });
    const parts = now.motors.map((us) => (us - 1000) / 1000);
    log.data('actuator_motors', at, { control: [...parts, ...Array<number>(8).fill(Number.NaN)] });
    log.data('sensor_combined', at, { accelerometer_m_s2: [0, 0, -now.acceleration] });
    if (n % 2 !== 0) continue;
    const cell = now.volts / 4;
    log.data('battery_status', at, {
      voltage_v: now.volts,
      current_a: now.amps,
      discharged_mah: s * 4,
      voltage_cell_v: [cell, cell, cell, cell],
    });
    log.data('system_power', at, { voltage5v_v: now.board });
    log.data('vehicle_imu_status', at, {
      accel_vibration_metric: now.vibration / 2,
      accel_clipping: [0, 0, now.clips],
    });
    log.data('vehicle_magnetometer', at, { magnetometer_ga: [now.field / 1000, 0, 0] });
    log.data('estimator_status', at, {
      hdg_test_ratio: now.compassRatio,
      vel_test_ratio: now.velocityRatio,
      pos_test_ratio: now.positionRatio,
    });
    log.data('estimator_selector_status', at, { primary_instance: now.core });
    log.data('failsafe_flags', at, { manual_control_signal_lost: now.radio ? 0 : 1, gcs_connection_lost: 0 });
    if (n % 4 !== 0) continue;
    const place = { lat: 47 + now.north / 111_195, lon: 8 };
    log.data('vehicle_gps_position', at, {
      time_utc_usec: 1.8e15 + s * 1e6,
      latitude_deg: place.lat,
      longitude_deg: place.lon,
      hdop: now.hdop,
      vel_m_s: now.height > 0 ? 1 : 0,
      fix_type: 3,
      satellites_used: now.satellites,
    });
    log.data('vehicle_global_position', at, { ...place, alt: 400 + now.height });
  }
  if (flown.cut === undefined) status(100 + end + 0.1, false);
  return log.bytes;
}

/** From 0 to 1 between two moments. */
const ramp = (s: number, from: number, to: number): number =>
  Math.max(0, Math.min(1, (s - from) / (to - from)));

const FLOWN = {
  healthy: { change: () => undefined },
  'a gust and a hard touch': {
    change: (now, s) => {
      // Lifted by hand, armed.
      if ((s > 3.2 && s < 4.8) || (s > 30 && s < 30.4)) now.roll = 40;
      if ((s > 30 && s < 30.8) || (s > 55 && s < 55.8)) now.vibration = 45;
      if (s > 30 && s < 30.8) now.compassRatio = 0.95;
    },
    always: true,
  },
  'no battery monitor': {
    change: (now) => {
      now.volts = 5.9;
    },
    always: true,
    params: [
      [0, 'BATT_LOW_VOLT', 0],
      [0, 'BATT_CRT_VOLT', 0],
    ],
  },
  'a motor that was taken away': {
    change: (now, s) => {
      if (s < 30) return;
      now.motors = [1000, 1150, 1850, 1600];
      now.roll = -120 * ramp(s, 30.2, 32.2);
      now.height = 10 - 10 * ramp(s, 30.5, 33);
      if (s > 33 && s < 33.2) now.acceleration = 150;
    },
    params: [[30, 'SERVO1_FUNCTION', 1]],
    errors: [[34, 12, 1]],
    // It disarms and closes the log.
    cut: 34.05,
  },
  'battery sag and brown-out': {
    change: (now, s) => {
      now.volts -= 2.4 * ramp(s, 28, 32);
      now.amps += 30 * ramp(s, 28, 29);
      now.board -= 1 * ramp(s, 35, 39);
    },
    cut: 40,
  },
  'lost motor': {
    change: (now, s) => {
      if (s < 30) return;
      now.motors = [1950, 1120, 1600, 1550];
      now.roll = -120 * ramp(s, 30.2, 32.2);
      now.height = 10 - 10 * ramp(s, 30.5, 33);
      if (s > 33 && s < 33.2) now.acceleration = 150;
    },
    errors: [
      [31, 25, 1],
      [34, 12, 1],
    ],
    crash: 34.2,
  },
  vibration: {
    change: (now, s) => {
      now.vibration += 62 * ramp(s, 30, 34);
      now.clips = Math.round(300 * ramp(s, 33, 45));
      if (s > 36) now.velocityRatio = now.positionRatio = 1.2;
    },
  },
  'compass interference': {
    change: (now, s) => {
      const load = ramp(s, 30, 32) - ramp(s, 44, 45);
      now.amps += 40 * load;
      now.field -= 240 * load;
      now.compassRatio = load > 0.9 ? 1.3 : 0.1;
    },
  },
  'GPS glitch': {
    change: (now, s) => {
      if (s < 30 || s > 36) return;
      now.satellites = 7;
      now.hdop = 3.4;
      now.north += 80;
      if (s > 32) now.positionRatio = now.velocityRatio = 1.1;
    },
    errors: [
      [31, 11, 2],
      [37, 11, 0],
    ],
  },
  'EKF lane switch': {
    change: (now, s) => {
      if (s > 30) now.velocityRatio = now.positionRatio = 1.3;
      if (s > 33) now.core = 1;
    },
    errors: [[33.2, 24, 1]],
    texts: [[33.1, 'EKF3 lane switch 1']],
  },
  'radio loss': {
    change: (now, s) => {
      now.radio = s < 30 || s > 42;
    },
    errors: [
      [30, 5, 1],
      [42, 5, 0],
    ],
    texts: [[30, 'Radio Failsafe']],
  },
} as const satisfies Readonly<Record<string, Flown>>;

type Name = keyof typeof FLOWN;
const made = (
  fault: Name,
  from: number,
  ardupilot: readonly string[],
  px4: readonly string[],
): readonly MadeFault[] => {
  const flown: Flown = FLOWN[fault];
  return [
    { fault: `${fault}, ArduPilot`, found: ardupilot, from, log: () => dataflash(flown) },
    { fault: `${fault}, PX4`, found: px4, from, log: () => ulog(flown) },
  ];
};

export const MADE_FAULTS: readonly MadeFault[] = [
  ...made('healthy', 0, [], []),
  ...made('a gust and a hard touch', 0, [], []),
  ...made('no battery monitor', 0, [], []).slice(0, 1),
  ...made(
    'a motor that was taken away',
    30,
    ['parameter', 'attitude', 'tipped over', 'impact', 'crash'],
    [],
  ).slice(0, 1),
  ...made(
    'battery sag and brown-out',
    29.8,
    ['battery voltage', 'brown-out', 'ends in the air'],
    ['battery cells', 'brown-out', 'ends in the air'],
  ),
  ...made(
    'lost motor',
    30,
    ['motor lost', 'attitude', 'thrust loss', 'tipped over', 'impact', 'crash'],
    ['motor lost', 'attitude', 'tipped over', 'impact'],
  ),
  ...made('vibration', 31.3, ['vibration', 'clipping', 'EKF'], ['vibration', 'EKF']),
  ...made('compass interference', 31, ['compass field', 'compass'], ['compass field', 'compass']),
  ...made('GPS glitch', 30, ['GPS jump', 'GPS precision', 'GPS glitch', 'EKF'], ['GPS jump', 'EKF']),
  ...made('EKF lane switch', 30, ['EKF', 'EKF lane switch'], ['EKF', 'EKF lane switch']),
  ...made('radio loss', 30, ['failsafe'], ['failsafe']),
];
