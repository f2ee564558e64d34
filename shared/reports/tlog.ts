import { batteryState } from '../flight/battery-state.ts';
import { AUTOPILOT_PX4, type Family, familyOf } from '../flight/modes.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { STAMP_BYTES, vehicleIn, walkTlog } from '../logs/tlog.ts';
import { isAutopilot } from '../mavlink/autopilot-heartbeat.ts';
import {
  decodeAttitude,
  decodeAutopilotVersion,
  decodeBatteryStatus,
  decodeGlobalPosition,
  decodeGpsRaw,
  decodeHeartbeat,
  decodeHomePosition,
  decodeParamValue,
  decodeRawField,
  decodeStatusText,
  decodeSysStatus,
  decodeSystemTimeBootMs,
} from '../mavlink/decode.ts';
import {
  decodeEkfStatus,
  decodeEstimatorStatus,
  decodeLandedState,
  type Estimator,
} from '../mavlink/decode-flight.ts';
import { decodeServoOutputs, decodeVibration } from '../mavlink/decode-motors.ts';
import { Frame } from '../mavlink/frame.ts';
import { MSG } from '../mavlink/messages.ts';
import { Payload } from '../mavlink/payload.ts';
import { type Fact, type FactSink, type Firmware, factsOfText } from './facts.ts';

// Of a heartbeat.
const AUTOPILOT_ARDUPILOT = 3;
const ARMED = 128;
const STATE_CRITICAL = 5;
const STATE_EMERGENCY = 6;

// MAV_LANDED_STATE; the others are in the air.
const LANDED_UNDEFINED = 0;
const LANDED_ON_GROUND = 1;
const PARAM_REAL32 = 9;
const DEGREES = 180 / Math.PI;
const FIX_3D = 3;
/** POWER_STATUS (common): its first field is the voltage of the autopilot, mV. */
const POWER_STATUS = 125;
const MAX_CELL_MV = 5000;
const U16_UNKNOWN = 0xffff;
const SATELLITES_UNKNOWN = 255;
/** EKF_GPS_GLITCHING of EKF_STATUS_REPORT; ESTIMATOR_GPS_GLITCH and ESTIMATOR_ACCEL_ERROR of ESTIMATOR_STATUS. */
const EKF_GLITCH = 0x8000;
const ESTIMATOR_GLITCH = 0x0400;
const ESTIMATOR_ACCEL_ERROR = 0x0800;

/** A moment on the log's clock, s since 1970, and on the vehicle's, s since it was switched on. */
export interface Uptime {
  readonly at: number;
  readonly s: number;
}

/** Reads a telemetry log. */
export function readTlog(log: LogBytes, sink: FactSink): void {
  tlogReader(sink)(log);
}

const EMPTY = Buffer.alloc(0);

/** Reads telemetry logs of one vehicle, one after the other: what it was stays known. */
export function tlogReader(sink: FactSink): (log: LogBytes) => void {
  const vehicle = new TlogVehicle(sink);
  return (log) => {
    vehicle.isOf(log);
    walk(log, vehicle, () => true);
  };
}

/** When a log begins; null: its vehicle does not say. @param log its first part is enough */
export function tlogBegin(log: LogBytes): Uptime | null {
  const found: Uptime[] = [];
  const take = (at: number, fact: Fact): void => {
    if (fact.kind === 'uptime') found.push({ at, s: fact.s });
  };
  const vehicle = new TlogVehicle({ seen: () => undefined, take });
  vehicle.isOf(log);
  walk(log, vehicle, () => found.length === 0);
  return found[0] ?? null;
}

function walk(log: LogBytes, vehicle: TlogVehicle, goesOn: () => boolean): void {
  // The same memory as Node reads it.
  const frame = new Frame(Buffer.from(log.view.buffer, 0, log.view.byteLength));
  walkTlog(log, (at, length) => {
    const start = log.start + STAMP_BYTES;
    frame.point(start, start + length, true);
    vehicle.heard(at, frame);
    return goesOn();
  });
}

/** What the autopilot of the log sends; others on the link (ground stations, cameras) tell nothing. */
class TlogVehicle {
  readonly #sink: FactSink;
  readonly #payload = new Payload();
  #system = -1;
  #component = -1;
  #isMet = false;
  #firmware: Firmware | null = null;
  #family: Family | null = null;
  #text: { readonly id: number; bytes: Buffer; readonly severity: number } = {
    id: -1,
    bytes: EMPTY,
    severity: 0,
  };
  #at = 0;

  constructor(sink: FactSink) {
    this.#sink = sink;
  }

  /** Which autopilot it is, where no log before has said. @param log at its beginning */
  isOf(log: LogBytes): void {
    const { system, component } = (this.#system < 0 ? vehicleIn(log.again()) : null) ?? {};
    this.#system = system ?? this.#system;
    this.#component = component ?? this.#component;
  }

  heard(at: number, frame: Frame): void {
    this.#sink.seen(at);
    this.#at = at;
    const payload = this.#payload.load(frame);
    if (frame.system !== this.#system || frame.component !== this.#component) return;
    if (!this.#isMet && frame.id === MSG.HEARTBEAT) this.#meet(payload);
    const read = READERS[frame.id];
    if (read !== undefined) for (const fact of read(payload, this.#firmware)) this.#sink.take(at, fact);
    else if (frame.id === MSG.STATUSTEXT) this.#onText(payload);
    else if (frame.id === MSG.AUTOPILOT_VERSION) this.#tellVehicle(decodeAutopilotVersion(payload).text);
  }

  #meet(payload: Payload): void {
    const { autopilot, type } = decodeHeartbeat(payload);
    if (!isAutopilot({ autopilot, type }, this.#component)) return; // somebody else with its numbers
    this.#isMet = true;
    this.#family = familyOf(autopilot, type);
    if (autopilot === AUTOPILOT_ARDUPILOT) this.#firmware = 'ardupilot';
    if (autopilot === AUTOPILOT_PX4) this.#firmware = 'px4';
    if (this.#firmware !== null) this.#sink.take(this.#at, { kind: 'firmware', firmware: this.#firmware });
    this.#sink.take(this.#at, { kind: 'log', log: 'tlog' });
    this.#sink.take(this.#at, { kind: 'clock', utcMs: this.#at * 1000 });
    this.#tellVehicle(null);
  }

  #tellVehicle(version: string | null): void {
    const family = this.#family;
    const name = this.#firmware === 'px4' ? 'PX4' : `ArduPilot ${family ?? ''}`.trim();
    if (this.#firmware === null) return;
    this.#sink.take(this.#at, {
      kind: 'vehicle',
      text: version === null ? name : `${name} ${version}`,
      family,
    });
  }

  /** Long ones come in parts of 50 characters. */
  #onText(payload: Payload): void {
    const { severity, bytes, id, part, final } = decodeStatusText(payload);
    // As bytes: a part may end within a character.
    if (id !== 0 && this.#text.id === id && part > 0)
      this.#text.bytes = Buffer.concat([this.#text.bytes, bytes]);
    else this.#text = { id, bytes, severity };
    if (id !== 0 && !final && part < 10) return;
    const whole = this.#text.bytes.toString();
    this.#text = { id: -1, bytes: EMPTY, severity: 0 };
    for (const fact of factsOfText(severity, whole, 'STATUSTEXT.text')) this.#sink.take(this.#at, fact);
  }
}

type FactReader = (payload: Payload, firmware: Firmware | null) => readonly Fact[];

const READERS: Readonly<Record<number, FactReader>> = {
  [MSG.HEARTBEAT]: (payload) => {
    const { baseMode, customMode, systemStatus } = decodeHeartbeat(payload);
    const critical = systemStatus === STATE_CRITICAL || systemStatus === STATE_EMERGENCY;
    return [
      { kind: 'armed', armed: (baseMode & ARMED) !== 0 },
      { kind: 'mode', mode: customMode },
      {
        kind: 'failsafe',
        name: 'the vehicle calls its state critical',
        active: critical,
        of: 'HEARTBEAT.system_status',
      },
    ];
  },
  [MSG.EXTENDED_SYS_STATE]: (payload) => {
    const state = decodeLandedState(payload);
    return state === LANDED_UNDEFINED ? [] : [{ kind: 'landed', landed: state === LANDED_ON_GROUND }];
  },
  [MSG.GLOBAL_POSITION_INT]: (payload) => {
    const { lat, lon, alt, relativeAlt, vx, vy, timeBootMs } = decodeGlobalPosition(payload);
    if (lat === 0 && lon === 0) return [uptime(timeBootMs)]; // before the first fix
    return [
      uptime(timeBootMs),
      {
        kind: 'position',
        lat: lat / 1e7,
        lon: lon / 1e7,
        alt: alt / 1000,
        height: relativeAlt / 1000,
      },
      { kind: 'speed', ms: Math.hypot(vx, vy) / 100 },
    ];
  },
  [MSG.ATTITUDE]: (payload) => {
    const { timeBootMs, roll, pitch } = decodeAttitude(payload);
    return [
      uptime(timeBootMs),
      { kind: 'attitude', roll: roll * DEGREES, pitch: pitch * DEGREES, of: 'ATTITUDE.roll' },
    ];
  },
  [MSG.SYSTEM_TIME]: (payload) => [uptime(decodeSystemTimeBootMs(payload))],
  [MSG.HOME_POSITION]: (payload) => {
    const { lat, lon, alt } = decodeHomePosition(payload);
    return [{ kind: 'home', lat: lat / 1e7, lon: lon / 1e7, alt: alt / 1000 }];
  },
  [MSG.GPS_RAW_INT]: (payload) => {
    const { eph, satellites, fixType, lat, lon } = decodeGpsRaw(payload);
    return [
      {
        kind: 'gps',
        satellites: satellites === SATELLITES_UNKNOWN ? null : satellites,
        hdop: eph === U16_UNKNOWN ? null : eph / 100,
        of: 'GPS_RAW_INT.satellites_visible',
      },
      {
        kind: 'fix',
        is3d: fixType >= FIX_3D,
        lat: lat / 1e7,
        lon: lon / 1e7,
        ms: payload.u16(24) / 100,
        of: 'GPS_RAW_INT.fix_type',
      },
    ];
  },
  [MSG.SYS_STATUS]: (payload) => {
    const { voltage, current } = decodeSysStatus(payload);
    if (voltage === U16_UNKNOWN || voltage === 0) return [];
    const volts: Fact = { kind: 'voltage', volts: voltage / 1000, of: 'SYS_STATUS.voltage_battery' };
    return current < 0 ? [volts] : [{ kind: 'current', amps: current / 100 }, volts];
  },
  [POWER_STATUS]: (payload) => [{ kind: 'board', volts: payload.u16(0) / 1000, of: 'POWER_STATUS.Vcc' }],
  [MSG.BATTERY_STATUS]: (payload) => [...batteryFacts(payload)],
  [MSG.VIBRATION]: (payload, firmware) => {
    const { x, y, z, clips } = decodeVibration(payload);
    const of = 'VIBRATION.vibration_z';
    return [
      { kind: 'vibration', level: firmware === 'px4' ? z : Math.max(x, y, z), of },
      ...clips.map(
        (count, sensor) => ({ kind: 'clips', sensor, count, of: `VIBRATION.clipping_${sensor}` }) as const,
      ),
    ];
  },
  [MSG.RAW_IMU]: (payload, firmware) => {
    const length = Math.hypot(...decodeRawField(payload));
    return firmware === 'ardupilot' && length > 0 ? [{ kind: 'field', length, of: 'RAW_IMU.xmag' }] : [];
  },
  [MSG.EKF_STATUS_REPORT]: (payload) => {
    const ekf = decodeEkfStatus(payload);
    const of = 'EKF_STATUS_REPORT.flags';
    return [
      { ...ratiosOf(ekf), of: 'EKF_STATUS_REPORT.velocity_variance' },
      { kind: 'glitch', source: 'ekf', active: (ekf.flags & EKF_GLITCH) !== 0, of },
    ];
  },
  [MSG.ESTIMATOR_STATUS]: (payload) => {
    const estimator = decodeEstimatorStatus(payload);
    const { flags } = estimator;
    const of = 'ESTIMATOR_STATUS.flags';
    const glitch = { kind: 'glitch', source: 'ekf', active: (flags & ESTIMATOR_GLITCH) !== 0, of } as const;
    const ratios = { ...ratiosOf(estimator), of: 'ESTIMATOR_STATUS.pos_horiz_ratio' };
    return (flags & ESTIMATOR_ACCEL_ERROR) === 0
      ? [ratios, glitch]
      : [ratios, glitch, { kind: 'bad-accelerometer', of }];
  },
  [MSG.SERVO_OUTPUT_RAW]: (payload) => {
    const { port, us } = decodeServoOutputs(payload);
    return port === 0 ? [{ kind: 'outputs', pwm: us, of: 'SERVO_OUTPUT_RAW.servo#_raw' }] : [];
  },
  // PX4 sends integers bytewise; its parameters that count here are all real numbers.
  [MSG.PARAM_VALUE]: (payload, firmware) => {
    const { name, type } = decodeParamValue(payload);
    if (firmware === 'px4' && type !== PARAM_REAL32) return [];
    return [{ kind: 'param', name, value: payload.f32(0), of: 'PARAM_VALUE.param_value' }];
  },
};

function uptime(ms: number): Fact {
  return { kind: 'uptime', s: ms / 1000 };
}

function ratiosOf({ compass, velocity, posHoriz: position, posVert: height }: Estimator): Fact {
  return { kind: 'ekf', compass, velocity, position, height };
}

/** Of the first battery. */
function* batteryFacts(payload: Payload): Generator<Fact> {
  const { id, cells, cellsExt, consumed, chargeState } = decodeBatteryStatus(payload);
  if (id !== 0) return;
  if (consumed >= 0) yield { kind: 'used', mah: consumed };
  const there = [...cells.filter((mv) => mv !== U16_UNKNOWN), ...cellsExt.filter((mv) => mv !== 0)];
  // Some send the voltage of the whole pack as one cell.
  if (there.length > 0 && there.every((mv) => mv <= MAX_CELL_MV))
    yield { kind: 'cell', volts: Math.min(...there) / 1000, of: 'BATTERY_STATUS.voltages' };
  const state = batteryState(chargeState);
  const of = 'BATTERY_STATUS.charge_state';
  if (state === 'low') yield { kind: 'battery-state', state, of };
  if (state === 'critical' || state === 'emergency') yield { kind: 'battery-state', state: 'critical', of };
}
