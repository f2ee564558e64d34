import { ApiError } from '../../../shared/errors.ts';
import type { Family } from '../../../shared/flight/modes.ts';
import type { Fact, FactSink } from './facts.ts';
import type { LogBytes } from './log-bytes.ts';
import { LogClock } from './log-clock.ts';

/**
 * ArduPilot's log on its card ("dataflash", .BIN): 0xA3 0x95, a type, the fields of the type. Messages FMT tell the types, of which
 * each log has its own. Source: https://github.com/ArduPilot/ardupilot/blob/master/libraries/AP_Logger/LogStructure.h
 */

const HEAD_1 = 0xa3;
const HEAD_2 = 0x95;
const HEAD_BYTES = 3;
const FMT = 128;
const FMT_BYTES = 89;

type Value = number | string;
type Row = Readonly<Record<string, Value>>;
type Get = (bytes: Buffer, at: number) => Value;

/** Size and reader of each letter of a format. Units and multipliers (FMTU, MULT) add nothing: what the columns used here are in has never changed. */
const LETTERS: Readonly<Record<string, readonly [size: number, get: Get]>> = {
  a: [64, () => 0],
  b: [1, (bytes, at) => bytes.readInt8(at)],
  B: [1, (bytes, at) => bytes.readUInt8(at)],
  M: [1, (bytes, at) => bytes.readUInt8(at)],
  h: [2, (bytes, at) => bytes.readInt16LE(at)],
  H: [2, (bytes, at) => bytes.readUInt16LE(at)],
  i: [4, (bytes, at) => bytes.readInt32LE(at)],
  I: [4, (bytes, at) => bytes.readUInt32LE(at)],
  f: [4, (bytes, at) => bytes.readFloatLE(at)],
  d: [8, (bytes, at) => bytes.readDoubleLE(at)],
  c: [2, (bytes, at) => bytes.readInt16LE(at) / 100],
  C: [2, (bytes, at) => bytes.readUInt16LE(at) / 100],
  e: [4, (bytes, at) => bytes.readInt32LE(at) / 100],
  E: [4, (bytes, at) => bytes.readUInt32LE(at) / 100],
  L: [4, (bytes, at) => bytes.readInt32LE(at) / 1e7],
  q: [8, (bytes, at) => Number(bytes.readBigInt64LE(at))],
  Q: [8, (bytes, at) => Number(bytes.readBigUInt64LE(at))],
  n: text(4),
  N: text(16),
  Z: text(64),
};

/** A type of this log. */
interface Type {
  readonly name: string;
  /** With the head. */
  readonly length: number;
  /** By column; none where the format does not fit the length. */
  readonly fields: ReadonlyMap<string, { readonly at: number; readonly get: Get }>;
}

/** @throws ApiError E_STORE if it has no types */
export function readDataflash(log: LogBytes, sink: FactSink): void {
  const types: (Type | undefined)[] = [];
  const rows = new DataflashRows(sink);
  while (log.has(HEAD_BYTES)) {
    const { bytes, start } = log;
    if (bytes[start] !== HEAD_1 || bytes[start + 1] !== HEAD_2) {
      if (!log.seek(HEAD_1)) break;
      continue;
    }
    const id = bytes[start + 2] ?? 0;
    const length = id === FMT ? FMT_BYTES : types[id]?.length;
    if (length === undefined) {
      log.skip(1); // not a message, or one of a type that was lost
      continue;
    }
    if (!log.has(length)) break; // the log was cut off here
    if (id === FMT) define(log, types);
    else rows.read(types[id], log);
    log.skip(length);
  }
  if (types.length === 0)
    throw new ApiError('E_STORE', 'This log of the vehicle names none of its messages.');
}

function define({ bytes, start }: LogBytes, types: (Type | undefined)[]): void {
  const at = start + HEAD_BYTES;
  const id = bytes.readUInt8(at);
  const length = bytes.readUInt8(at + 1);
  if (id === FMT || length < HEAD_BYTES) return;
  const [name, format, columns] = [
    textAt(bytes, at + 2, 4),
    textAt(bytes, at + 6, 16),
    textAt(bytes, at + 22, 64),
  ];
  types[id] = { name, length, fields: fieldsOf(format, columns.split(','), length) };
}

function fieldsOf(format: string, columns: readonly string[], length: number): Type['fields'] {
  const fields = new Map<string, { readonly at: number; readonly get: Get }>();
  let at = HEAD_BYTES;
  for (const [index, letter] of [...format].entries()) {
    const known = LETTERS[letter];
    if (known === undefined) return new Map();
    const column = columns[index];
    if (column !== undefined) fields.set(column, { at, get: known[1] });
    at += known[0];
  }
  return at === length ? fields : new Map();
}

function text(size: number): readonly [number, Get] {
  return [size, (bytes, at) => textAt(bytes, at, size)];
}

function textAt(bytes: Buffer, at: number, size: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('latin1', at, end === -1 || end > at + size ? at + size : end);
}

/** The messages that a report needs, of the first of several sensors. */
class DataflashRows {
  readonly #sink: FactSink;
  readonly #clock = new LogClock();
  #isTold = false;

  constructor(sink: FactSink) {
    this.#sink = sink;
  }

  read(type: Type | undefined, { bytes, start }: LogBytes): void {
    const time = type?.fields.get('TimeUS');
    if (type === undefined || time === undefined) return;
    const at = Number(time.get(bytes, start + time.at)) / 1e6;
    if (!this.#clock.isTime(at)) return;
    if (!this.#isTold) this.#sink.take(at, { kind: 'firmware', firmware: 'ardupilot' });
    this.#isTold = true;
    this.#sink.seen(at);
    const tell = MESSAGES[type.name];
    if (tell === undefined) return;
    const row: Record<string, Value> = {};
    for (const [column, field] of type.fields) row[column] = field.get(bytes, start + field.at);
    for (const fact of tell(row)) this.#sink.take(at, fact);
  }
}

// LogEvent and LogErrorSubsystem (libraries/AP_Logger/AP_Logger.h).
const EVENT = { ARMED: 10, DISARMED: 11, LAND_COMPLETE: 18, NOT_LANDED: 28 } as const;
const ERROR_GPS = 11;
const ERROR_SUBSYSTEMS: Readonly<Record<number, string>> = {
  2: 'radio',
  3: 'compass',
  10: 'flight mode',
  [ERROR_GPS]: 'GPS',
  12: 'crash check',
  13: 'flip',
  15: 'parachute',
  18: 'barometer',
  19: 'CPU load',
  21: 'terrain data',
  22: 'navigation',
  24: 'EKF primary',
  25: 'thrust loss',
  28: 'pilot input',
  30: 'internal error',
};
const FAILSAFES: Readonly<Record<number, string>> = {
  5: 'radio',
  6: 'battery',
  7: 'GPS',
  8: 'ground station',
  9: 'fence',
  16: 'EKF check',
  17: 'EKF',
  20: 'ADS-B',
  23: 'terrain',
  26: 'sensors',
  27: 'leak',
  29: 'vibration',
  31: 'dead reckoning',
};
const FAMILIES: Readonly<Record<string, Family>> = {
  ArduCopter: 'copter',
  ArduPlane: 'plane',
  ArduRover: 'rover',
  Rover: 'rover',
  ArduSub: 'sub',
};
const GPS_EPOCH_MS = Date.UTC(1980, 0, 6);
const WEEK_MS = 7 * 24 * 3600 * 1000;
/** Since 2017. */
const LEAP_MS = 18_000;
const FIX_3D = 3;
const HOME = 1;
/** `gps_glitching` of nav_filter_status (libraries/AP_NavEKF/AP_Nav_Common.h). */
const GLITCHING_BIT = 14;

function numberOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : Number.NaN;
}

/** Of the first sensor; a column that an older firmware does not have means the only one. */
function isFirst(row: Row, ...columns: readonly string[]): boolean {
  return columns.every((column) => row[column] === undefined || row[column] === 0);
}

/** A column that is there. */
function factOf(row: Row, column: string, make: (value: number) => Fact): readonly Fact[] {
  const value = numberOf(row, column);
  return Number.isFinite(value) ? [make(value)] : [];
}

const MESSAGES: Readonly<Record<string, (row: Row) => readonly Fact[]>> = {
  PARM: (row) => factOf(row, 'Value', (value) => ({ kind: 'param', name: String(row['Name']), value })),
  MSG: (row) => factsOfMessage(String(row['Message'])),
  MODE: (row) => factOf(row, 'ModeNum', (mode) => ({ kind: 'mode', mode })),
  EV: (row) => factsOfEvent(numberOf(row, 'Id')),
  ERR: (row) => factsOfError(numberOf(row, 'Subsys'), numberOf(row, 'ECode')),
  GPS: (row) => (isFirst(row, 'I') ? factsOfGps(row) : []),
  POS: (row) => {
    const [lat, lon, alt] = [numberOf(row, 'Lat'), numberOf(row, 'Lng'), numberOf(row, 'Alt')];
    const height = numberOf(row, 'RelHomeAlt');
    return [{ kind: 'position', lat, lon, alt, height: Number.isFinite(height) ? height : null }];
  },
  ORGN: (row) => {
    if (numberOf(row, 'Type') !== HOME) return [];
    const [lat, lon, alt] = [numberOf(row, 'Lat'), numberOf(row, 'Lng'), numberOf(row, 'Alt')];
    return [{ kind: 'home', lat, lon, alt }];
  },
  BAT: (row) =>
    isFirst(row, 'Inst', 'Instance')
      ? [
          ...factOf(row, 'Volt', (volts) => ({ kind: 'voltage', volts })),
          ...factOf(row, 'CurrTot', (mah) => ({ kind: 'used', mah })),
        ]
      : [],
  BCL: (row) => {
    const cells = Object.entries(row).flatMap(([column, mv]) =>
      /^V\d+$/.test(column) && typeof mv === 'number' && mv > 0 && mv < 0xffff ? [mv / 1000] : [],
    );
    return isFirst(row, 'Instance') && cells.length > 0 ? [{ kind: 'cell', volts: Math.min(...cells) }] : [];
  },
  VIBE: (row) => factsOfVibration(row),
  MAG: (row) => {
    const length = Math.hypot(numberOf(row, 'MagX'), numberOf(row, 'MagY'), numberOf(row, 'MagZ'));
    return isFirst(row, 'I') && length > 0 ? [{ kind: 'field', length }] : [];
  },
  XKF4: factsOfEstimator,
  NKF4: factsOfEstimator,
  RCOU: (row) => {
    const pwm = Array.from({ length: 14 }, (_, output) => numberOf(row, `C${output + 1}`));
    return [{ kind: 'outputs', pwm: pwm.map((value) => (Number.isFinite(value) ? value : 0)) }];
  },
};

/** The firmware is a message of its own: `ArduCopter V4.5.7 (2a3dc4b7)`. */
function factsOfMessage(words: string): readonly Fact[] {
  const [, name = ''] = /^(\w+) V\d+\.\d+/.exec(words) ?? [];
  const family = FAMILIES[name];
  if (family !== undefined) return [{ kind: 'vehicle', text: words, family }];
  return /failsafe/i.test(words) ? [{ kind: 'event', event: 'message', text: words }] : [];
}

function factsOfEvent(id: number): readonly Fact[] {
  switch (id) {
    // An event is a change, whatever was known before.
    case EVENT.ARMED:
      return [
        { kind: 'armed', armed: false },
        { kind: 'armed', armed: true },
      ];
    case EVENT.DISARMED:
      return [{ kind: 'armed', armed: false }];
    case EVENT.LAND_COMPLETE:
      return [{ kind: 'landed', landed: true }];
    case EVENT.NOT_LANDED:
      return [
        { kind: 'landed', landed: true },
        { kind: 'landed', landed: false },
      ];
    default:
      return [];
  }
}

function factsOfError(subsystem: number, code: number): readonly Fact[] {
  const active = code !== 0;
  if (subsystem === ERROR_GPS)
    return [
      { kind: 'glitch', source: 'error', active },
      { kind: 'event', event: 'error', text: active ? 'GPS glitch' : 'GPS glitch: over' },
    ];
  const failsafe = FAILSAFES[subsystem];
  if (failsafe !== undefined) return [{ kind: 'failsafe', name: failsafe, active }];
  const name = ERROR_SUBSYSTEMS[subsystem] ?? `subsystem ${subsystem}`;
  return [{ kind: 'event', event: 'error', text: `${name}: ${active ? `code ${code}` : 'resolved'}` }];
}

function factsOfGps(row: Row): readonly Fact[] {
  const status = numberOf(row, 'Status');
  const [satellites, hdop] = [numberOf(row, 'NSats'), numberOf(row, 'HDop')];
  const [week, ms] = [numberOf(row, 'GWk'), numberOf(row, 'GMS')];
  const facts: Fact[] = [{ kind: 'gps', satellites, hdop }];
  if (!(status >= FIX_3D)) return facts;
  facts.push(...factOf(row, 'Spd', (speed) => ({ kind: 'speed', ms: speed })));
  if (week > 0) facts.push({ kind: 'clock', utcMs: GPS_EPOCH_MS + week * WEEK_MS + ms - LEAP_MS });
  return facts;
}

/** `Clip` by accelerometer; before 4.0 one message for the first, with the counters of all. */
function factsOfVibration(row: Row): readonly Fact[] {
  const level = Math.max(numberOf(row, 'VibeX'), numberOf(row, 'VibeY'), numberOf(row, 'VibeZ'));
  const sensor = numberOf(row, 'IMU');
  const clips = ['Clip0', 'Clip1', 'Clip2'].flatMap((column, index) =>
    factOf(row, column, (count) => ({ kind: 'clips', sensor: index, count })),
  );
  return [
    ...(isFirst(row, 'IMU') ? [{ kind: 'vibration', level } as const] : []),
    ...factOf(row, 'Clip', (count) => ({
      kind: 'clips',
      sensor: Number.isFinite(sensor) ? sensor : 0,
      count,
    })),
    ...clips,
  ];
}

/** Of the core that flies the vehicle. */
function factsOfEstimator(row: Row): readonly Fact[] {
  const primary = numberOf(row, 'PI');
  if (Number.isFinite(primary) && row['C'] !== undefined && row['C'] !== primary) return [];
  const status = numberOf(row, 'SS');
  const ekf: Fact = {
    kind: 'ekf',
    compass: numberOf(row, 'SM'),
    velocity: numberOf(row, 'SV'),
    position: numberOf(row, 'SP'),
    height: numberOf(row, 'SH'),
  };
  if (!Number.isFinite(status)) return [ekf];
  return [ekf, { kind: 'glitch', source: 'ekf', active: ((status >>> GLITCHING_BIT) & 1) === 1 }];
}
