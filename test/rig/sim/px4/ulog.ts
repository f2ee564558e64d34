import {
  type FlightLog,
  type LoggedState,
  MOST_LOG_BYTES,
  SAMPLE_S,
} from '../../../../bin/sim/flight/flight-log.ts';
import type { Vehicle } from '../../../../bin/sim/flight/vehicle.ts';
import type { Param } from '../../../../bin/sim/params/params.ts';

/**
 * A log of one flight as PX4 writes it: the definitions (flag bits, what the log is of, formats, parameters), then data and texts,
 * each message with its size and type before it. Layout from https://docs.px4.io/main/en/dev_log/ulog_file_format; topics and
 * members as PX4's msg/*.msg has them, a part of each; pyulog reads it.
 */

const MAGIC = Buffer.from([0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35, 1]);
/** Fields of each topic after its timestamp. */
const TOPICS = {
  vehicle_status: 'uint8_t arming_state;uint8_t nav_state',
  vehicle_land_detected: 'bool landed',
  vehicle_attitude: 'float[4] q',
  vehicle_local_position: 'float x;float y;float z;float vx;float vy;float vz;float heading',
  vehicle_global_position: 'double lat;double lon;float alt',
  vehicle_gps_position:
    'uint64_t time_utc_usec;double latitude_deg;double longitude_deg;double altitude_msl_m;uint8_t fix_type;uint8_t satellites_used',
  battery_status: 'float voltage_v;float current_a',
} as const;
type Topic = keyof typeof TOPICS;
type Value = number | bigint;

const ARMING = { DISARMED: 1, ARMED: 2 } as const;
const LEVEL_INFO = '6'.charCodeAt(0);
const PARAM_FLOAT = 9;
/** NAVIGATION_STATE_* of vehicle_status.msg, by main mode or, in AUTO, by sub mode (px4_custom_mode.h). */
const AUTO = 4;
const NAV_OF_MAIN: Readonly<Record<number, number>> = { 1: 0, 2: 1, 3: 2, 5: 10, 6: 14, 7: 15 };
const NAV_OF_SUB: Readonly<Record<number, number>> = { 2: 17, 3: 4, 4: 3, 5: 5, 6: 18, 8: 19, 9: 20 };

export class Ulog implements FlightLog {
  readonly #parts: Buffer[] = [];
  #size = 0;
  #next = 0;
  readonly #wallAtBoot: number;

  /** @param wall time of day, ms since 1970 */
  constructor(params: readonly Param[], state: LoggedState, wall: number) {
    this.#wallAtBoot = wall - state.vehicle.time * 1000;
    this.#append(Buffer.concat([MAGIC, u64(micros(state.vehicle))]));
    this.#message('B', Buffer.alloc(40)); // no flags, nothing appended
    this.#keyed('I', 'char[3] sys_name', Buffer.from('PX4'));
    this.#keyed('I', 'char[7] ver_hw', Buffer.from('PX4_SIM'));
    for (const [topic, fields] of Object.entries(TOPICS))
      this.#message('F', Buffer.from(`${topic}:uint64_t timestamp;${fields};`));
    for (const { name, type, value } of params) {
      const bytes = Buffer.alloc(4);
      if (type === PARAM_FLOAT) bytes.writeFloatLE(value);
      else bytes.writeInt32LE(value);
      this.#keyed('P', `${type === PARAM_FLOAT ? 'float' : 'int32_t'} ${name}`, bytes);
    }
    for (const [id, topic] of Object.keys(TOPICS).entries())
      this.#message('A', Buffer.concat([Buffer.of(0), u16(id), Buffer.from(topic)]));
    this.sample(state);
  }

  text(vehicle: Vehicle, words: string): void {
    const at = u64(micros(vehicle));
    this.#message('L', Buffer.concat([Buffer.of(LEVEL_INFO), at, Buffer.from(words)]));
  }

  sample(state: LoggedState): void {
    const { vehicle, mode, volts, satellites } = state;
    if (vehicle.time < this.#next) return;
    this.#next = vehicle.time + SAMPLE_S;
    this.#status(state, ARMING.ARMED, mode.number);
    this.#data('vehicle_land_detected', vehicle, [Number(vehicle.landed)]);
    this.#data('vehicle_attitude', vehicle, quaternion(vehicle));
    const { lat, lon, alt } = vehicle.location;
    const { n, e, u, vn, ve, vu, yaw } = vehicle;
    this.#data('vehicle_local_position', vehicle, [n, e, -u, vn, ve, -vu, yaw]);
    this.#data('vehicle_global_position', vehicle, [lat, lon, alt]);
    const utc = BigInt(Math.round((this.#wallAtBoot + vehicle.time * 1000) * 1000));
    this.#data('vehicle_gps_position', vehicle, [utc, lat, lon, alt, satellites > 0 ? 3 : 1, satellites]);
    this.#data('battery_status', vehicle, [volts, vehicle.battery.amps]);
  }

  end(state: LoggedState): Buffer {
    this.#next = 0;
    this.sample(state);
    this.#status(state, ARMING.DISARMED, state.mode.number);
    return Buffer.concat(this.#parts);
  }

  #status({ vehicle }: LoggedState, arming: number, mode: number): void {
    const [main, sub] = [(mode >>> 16) & 0xff, mode >>> 24];
    const nav = main === AUTO ? NAV_OF_SUB[sub] : NAV_OF_MAIN[main];
    this.#data('vehicle_status', vehicle, [arming, nav ?? 0]);
  }

  #data(topic: Topic, vehicle: Vehicle, values: readonly Value[]): void {
    const types = TOPICS[topic].split(';').flatMap((field) => {
      const [type = '', times = '1'] = (field.split(' ')[0] ?? '').split(/[[\]]/);
      return Array.from({ length: Number(times) }, () => type);
    });
    const fields = values.map((value, index) => FIELDS[types[index] ?? '']?.(value) ?? Buffer.alloc(0));
    const id = u16(Object.keys(TOPICS).indexOf(topic));
    this.#message('D', Buffer.concat([id, u64(micros(vehicle)), ...fields]));
  }

  #keyed(type: string, key: string, value: Buffer): void {
    this.#message(type, Buffer.concat([Buffer.of(key.length), Buffer.from(key), value]));
  }

  #message(type: string, body: Buffer): void {
    this.#append(Buffer.concat([u16(body.length), Buffer.from(type), body]));
  }

  #append(bytes: Buffer): void {
    if (this.#size + bytes.length > MOST_LOG_BYTES) return;
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }
}

const FIELDS: Readonly<Record<string, (value: Value) => Buffer>> = {
  bool: (value) => Buffer.of(Number(value)),
  uint8_t: (value) => Buffer.of(Number(value) & 0xff),
  uint64_t: (value) => u64(BigInt(value)),
  float: (value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(Number(value));
    return bytes;
  },
  double: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    return bytes;
  },
};

/** Of body to earth, north east down, w first. */
function quaternion({ roll, pitch, yaw }: Vehicle): readonly number[] {
  const ofHalves = (f: (angle: number) => number) => [f(roll / 2), f(pitch / 2), f(yaw / 2)] as const;
  const [cr, cp, cy] = ofHalves(Math.cos);
  const [sr, sp, sy] = ofHalves(Math.sin);
  return [
    cr * cp * cy + sr * sp * sy,
    sr * cp * cy - cr * sp * sy,
    cr * sp * cy + sr * cp * sy,
    cr * cp * sy - sr * sp * cy,
  ];
}

function u16(value: number): Buffer {
  return Buffer.of(value & 0xff, value >>> 8);
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function micros({ time }: Vehicle): bigint {
  return BigInt(Math.round(time * 1e6));
}
