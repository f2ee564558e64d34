import type { Param } from '../params/params.ts';
import { type FlightLog, type LoggedState, MOST_LOG_BYTES, SAMPLE_S } from './flight-log.ts';
import type { Vehicle } from './vehicle.ts';

/**
 * A log of one flight as ArduPilot writes it to its card: each message 0xA3 0x95, its type, its fields; the types are told first,
 * by messages FMT. Layout from ArduPilot's libraries/AP_Logger/LogStructure.h; pymavlink's DFReader reads it.
 */

const [HEAD_1, HEAD_2] = [0xa3, 0x95];
const FMT = 128;
/** Name, type, fields (LogStructure.h explains the letters), columns. */
const TYPES = {
  PARM: [32, 'QNf', 'TimeUS,Name,Value'],
  MSG: [33, 'QZ', 'TimeUS,Message'],
  MODE: [34, 'QMBB', 'TimeUS,Mode,ModeNum,Rsn'],
  EV: [35, 'QB', 'TimeUS,Id'],
  GPS: [36, 'QBBIHBcLLefff', 'TimeUS,I,Status,GMS,GWk,NSats,HDop,Lat,Lng,Alt,Spd,GCrs,VZ'],
  ATT: [37, 'QcccC', 'TimeUS,DesRoll,Roll,Pitch,Yaw'],
  POS: [38, 'QLLff', 'TimeUS,Lat,Lng,Alt,RelHomeAlt'],
  BAT: [39, 'QBff', 'TimeUS,Inst,Volt,Curr'],
} as const;
type Name = keyof typeof TYPES;

/** LogEvent of AP_Logger. */
const EVENT = { ARMED: 10, DISARMED: 11, LAND_COMPLETE: 18, NOT_LANDED: 28 } as const;
const GPS_EPOCH_S = 315_964_800;
const LEAP_S = 18;
const WEEK_MS = 7 * 24 * 3600 * 1000;
const DEGREES = 180 / Math.PI;

export class DataflashLog implements FlightLog {
  readonly #parts: Buffer[] = [];
  #size = 0;
  #next = 0;
  #mode = -1;
  #landed = true;
  readonly #startedAt: number;

  /** @param wall time of day, ms since 1970 */
  constructor(params: readonly Param[], state: LoggedState, wall: number) {
    this.#startedAt = wall - state.vehicle.time * 1000;
    this.#add(FMT, 'BBnNZ', [FMT, 89, 'FMT', 'BBnNZ', 'Type,Length,Name,Format,Columns']);
    for (const [name, [type, format, columns]] of Object.entries(TYPES))
      this.#add(FMT, 'BBnNZ', [type, 3 + sizeOf(format), name, format, columns]);
    const time = micros(state.vehicle);
    for (const { name, value } of params) this.#write('PARM', [time, name, value]);
    this.#write('EV', [time, EVENT.ARMED]);
    this.sample(state);
  }

  text(vehicle: Vehicle, words: string): void {
    this.#write('MSG', [micros(vehicle), words]);
  }

  sample(state: LoggedState): void {
    const { vehicle, mode, volts, satellites } = state;
    if (vehicle.time < this.#next) return;
    this.#next = vehicle.time + SAMPLE_S;
    const time = micros(vehicle);
    if (mode.number !== this.#mode) {
      this.#mode = mode.number;
      this.#write('MODE', [time, mode.number, mode.number, 0]);
    }
    if (vehicle.landed !== this.#landed) {
      this.#landed = vehicle.landed;
      this.#write('EV', [time, vehicle.landed ? EVENT.LAND_COMPLETE : EVENT.NOT_LANDED]);
    }
    const { lat, lon, alt } = vehicle.location;
    const gpsMs = this.#startedAt + vehicle.time * 1000 - (GPS_EPOCH_S - LEAP_S) * 1000;
    const course = (Math.atan2(vehicle.ve, vehicle.vn) * DEGREES + 360) % 360 || 0;
    const [ms, week] = [Math.floor(gpsMs % WEEK_MS), Math.floor(gpsMs / WEEK_MS)];
    const fix = satellites > 0 ? 3 : 1;
    const { groundSpeed, vu } = vehicle;
    this.#write('GPS', [time, 0, fix, ms, week, satellites, 1.2, lat, lon, alt, groundSpeed, course, -vu]);
    this.#write('ATT', [
      time,
      0,
      vehicle.roll * DEGREES,
      vehicle.pitch * DEGREES,
      (vehicle.yaw * DEGREES + 360) % 360,
    ]);
    this.#write('POS', [time, lat, lon, alt, vehicle.height]);
    this.#write('BAT', [time, 0, volts, vehicle.battery.amps]);
  }

  end(state: LoggedState): Buffer {
    this.#next = 0;
    this.sample(state);
    this.#write('EV', [micros(state.vehicle), EVENT.DISARMED]);
    return Buffer.concat(this.#parts);
  }

  #write(name: Name, values: readonly (number | string | bigint)[]): void {
    const [type, format] = TYPES[name];
    this.#add(type, format, values);
  }

  #add(type: number, format: string, values: readonly (number | string | bigint)[]): void {
    const length = 3 + sizeOf(format);
    if (this.#size + length > MOST_LOG_BYTES) return;
    const bytes = Buffer.alloc(length);
    bytes.set([HEAD_1, HEAD_2, type]);
    let at = 3;
    for (const [index, letter] of [...format].entries()) {
      FIELDS[letter]?.[1](bytes, at, values[index] ?? 0);
      at += FIELDS[letter]?.[0] ?? 0;
    }
    this.#parts.push(bytes);
    this.#size += length;
  }
}

type Value = number | string | bigint;
type Put = (bytes: Buffer, at: number, value: Value) => void;

function text(size: number): readonly [number, Put] {
  return [size, (bytes, at, value) => void bytes.write(String(value), at, size, 'latin1')];
}

/** Size and writer of each field. */
const FIELDS: Readonly<Record<string, readonly [size: number, put: Put]>> = {
  B: [1, (bytes, at, value) => void bytes.writeUInt8(Number(value) & 0xff, at)],
  M: [1, (bytes, at, value) => void bytes.writeUInt8(Number(value) & 0xff, at)],
  H: [2, (bytes, at, value) => void bytes.writeUInt16LE(Number(value) & 0xffff, at)],
  I: [4, (bytes, at, value) => void bytes.writeUInt32LE(Number(value) >>> 0, at)],
  Q: [8, (bytes, at, value) => void bytes.writeBigUInt64LE(BigInt(value), at)],
  c: [2, (bytes, at, value) => void bytes.writeInt16LE(Math.round(Number(value) * 100), at)],
  C: [2, (bytes, at, value) => void bytes.writeUInt16LE(Math.round(Number(value) * 100), at)],
  e: [4, (bytes, at, value) => void bytes.writeInt32LE(Math.round(Number(value) * 100), at)],
  L: [4, (bytes, at, value) => void bytes.writeInt32LE(Math.round(Number(value) * 1e7), at)],
  f: [4, (bytes, at, value) => void bytes.writeFloatLE(Number(value), at)],
  n: text(4),
  N: text(16),
  Z: text(64),
};

function sizeOf(format: string): number {
  return [...format].reduce((sum, letter) => sum + (FIELDS[letter]?.[0] ?? 0), 0);
}

function micros({ time }: Vehicle): bigint {
  return BigInt(Math.round(time * 1e6));
}
