import type { LogBytes } from './log-bytes.ts';
import { LogClock } from './log-clock.ts';
import { type GetNumber, NUMBERS, textAt } from './numbers.ts';

/**
 * ArduPilot's log on its card ("dataflash", .BIN): 0xA3 0x95, a type, the fields of the type. Messages FMT tell the types, of which
 * each log has its own. Source: https://github.com/ArduPilot/ardupilot/blob/master/libraries/AP_Logger/LogStructure.h
 */

const HEAD_1 = 0xa3;
const HEAD_2 = 0x95;
const HEAD_BYTES = 3;
const FMT = 128;
const FMT_BYTES = 89;

/** Of a letter of a format: `text` is as long as its size, `values` are so many numbers one after the other. */
type Letter =
  | { readonly size: number; readonly get: GetNumber; readonly values?: number }
  | { readonly size: number; readonly text: true };

/** Units and multipliers (FMTU, MULT) change no value: what a column is in stands behind its letter. */
const LETTERS: Readonly<Record<string, Letter>> = {
  a: { size: 64, get: NUMBERS.int16_t[1], values: 32 },
  b: number(NUMBERS.int8_t),
  B: number(NUMBERS.uint8_t),
  M: number(NUMBERS.uint8_t),
  h: number(NUMBERS.int16_t),
  H: number(NUMBERS.uint16_t),
  i: number(NUMBERS.int32_t),
  I: number(NUMBERS.uint32_t),
  f: number(NUMBERS.float),
  d: number(NUMBERS.double),
  c: { size: 2, get: (view, at) => view.getInt16(at, true) / 100 },
  C: { size: 2, get: (view, at) => view.getUint16(at, true) / 100 },
  e: { size: 4, get: (view, at) => view.getInt32(at, true) / 100 },
  E: { size: 4, get: (view, at) => view.getUint32(at, true) / 100 },
  L: { size: 4, get: (view, at) => view.getInt32(at, true) / 1e7 },
  q: number(NUMBERS.int64_t),
  Q: number(NUMBERS.uint64_t),
  g: { size: 2, get: half },
  n: { size: 4, text: true },
  N: { size: 16, text: true },
  Z: { size: 64, text: true },
};

/** A column of a type. */
export interface DataflashField {
  /** From the start of the message. */
  readonly at: number;
  /** Of the first number; null: a text. */
  readonly get: GetNumber | null;
  readonly size: number;
  /** How many numbers there are. */
  readonly values: number;
}

/** A type of this log. */
export interface DataflashType {
  readonly id: number;
  readonly name: string;
  /** With the head. */
  readonly length: number;
  readonly format: string;
  /** By column; none where the format does not fit the length. Of letters that are not known there are none. */
  readonly fields: ReadonlyMap<string, DataflashField>;
}

/**
 * Reads a log to its end, or to where it was cut off.
 * @param onRow told of each message behind its FMT, which begins at `log.start`; false: enough
 * @returns how many types the log has told
 */
export function walkDataflash(log: LogBytes, onRow: (type: DataflashType) => boolean): number {
  const types: (DataflashType | undefined)[] = [];
  let told = 0;
  while (log.has(HEAD_BYTES)) {
    const { bytes, start } = log;
    if (bytes[start] !== HEAD_1 || bytes[start + 1] !== HEAD_2) {
      if (!log.seek(HEAD_1)) break;
      continue;
    }
    const id = bytes[start + 2] ?? 0;
    const type = types[id];
    const length = id === FMT ? FMT_BYTES : type?.length;
    if (length === undefined) {
      log.skip(1); // not a message, or one of a type that was lost
      continue;
    }
    if (!log.has(length)) break; // the log was cut off here
    if (id === FMT) {
      if (define(log, types)) told++;
    } else if (type !== undefined && !onRow(type)) break;
    log.skip(length);
  }
  return told;
}

/** @returns whether it is a type */
function define({ view, start }: LogBytes, types: (DataflashType | undefined)[]): boolean {
  const at = start + HEAD_BYTES;
  const id = view.getUint8(at);
  const length = view.getUint8(at + 1);
  if (id === FMT || length < HEAD_BYTES) return false;
  const [name, format, columns] = [
    textAt(view, at + 2, 4),
    textAt(view, at + 6, 16),
    textAt(view, at + 22, 64),
  ];
  types[id] = { id, name, length, format, fields: fieldsOf(format, columns.split(','), length) };
  return true;
}

function fieldsOf(format: string, columns: readonly string[], length: number): DataflashType['fields'] {
  const letters = [...format].map((name) => LETTERS[name]);
  const known = letters.reduce((sum, letter) => sum + (letter?.size ?? 0), HEAD_BYTES);
  const foreign = new Set([...format].filter((name) => LETTERS[name] === undefined));
  if (known > length || (foreign.size === 0 && known !== length)) return new Map();
  // One letter of a newer firmware is as long as what is left; behind several nobody knows where a field is, up to the last of them.
  const unknown = letters.filter((letter) => letter === undefined).length;
  const size = foreign.size === 1 ? (length - known) / unknown : Number.NaN;
  const places: number[] = [];
  for (let at = HEAD_BYTES, index = 0; index < letters.length; index++) {
    places.push(at);
    at += letters[index]?.size ?? size;
  }
  for (let at = length, index = letters.length - 1; index >= 0 && letters[index] !== undefined; index--) {
    at -= letters[index]?.size ?? 0;
    places[index] = at;
  }
  const fields = new Map<string, DataflashField>();
  for (const [index, letter] of letters.entries()) {
    const [column, at] = [columns[index], places[index]];
    if (column !== undefined && letter !== undefined && Number.isInteger(at) && at !== undefined)
      fields.set(column, fieldOf(letter, at));
  }
  return fields;
}

/** An IEEE 754 number of 16 bits. */
function half(view: DataView, at: number): number {
  const bits = view.getUint16(at, true);
  const [sign, exponent, fraction] = [bits >> 15 === 0 ? 1 : -1, (bits >> 10) & 0x1f, (bits & 0x3ff) / 1024];
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -14 : sign * (1 + fraction) * 2 ** (exponent - 15);
}

const WORD_BYTES = 4;
const WORD = 2 ** 32;
/** By the column that has it; firmware before 3.3 wrote ms. */
const CLOCKS = { TimeUS: 1e6, TimeMS: 1e3, T: 1e3 } as const;

/** The time of the rows of a log. One of 32 bits goes on where it wraps: µs do after 71.6 minutes. */
export class DataflashClock {
  readonly #clock: LogClock;
  readonly #columns = new WeakMap<DataflashType, GetNumber | null>();
  #turns = 0;
  #before = 0;

  /** @param log at its beginning, from where its first rows are looked at */
  constructor(log: LogBytes) {
    const ahead = log.again();
    this.#clock = LogClock.of((onTime) => {
      walkDataflash(ahead, (type) => {
        const read = this.#columnOf(type);
        return read === null || onTime(read(ahead.view, ahead.start));
      });
    });
    this.#turns = 0;
    this.#before = 0;
  }

  /** @param start where the row begins in `view`. @returns s; null: it has none, or one that is none */
  timeOf(type: DataflashType, view: DataView, start: number): number | null {
    const read = this.#columnOf(type);
    return read === null ? null : this.#clock.timeOf(read(view, start));
  }

  #columnOf(type: DataflashType): GetNumber | null {
    const known = this.#columns.get(type);
    if (known !== undefined) return known;
    // GPS.TimeMS of firmware before 3.3 is the time of the week; T beside it is that of the log.
    const isOld = type.name === 'GPS' && type.fields.has('TimeMS');
    const made = this.#read(type.fields, 'TimeUS') ?? this.#read(type.fields, isOld ? 'T' : 'TimeMS');
    this.#columns.set(type, made);
    return made;
  }

  #read(fields: DataflashType['fields'], column: keyof typeof CLOCKS): GetNumber | null {
    const field = fields.get(column);
    if (field?.get == null) return null;
    const { at, get, size } = field;
    const second = CLOCKS[column];
    if (size !== WORD_BYTES) return (view, start) => get(view, start + at) / second;
    return (view, start) => {
      const told = get(view, start + at);
      if (told < this.#before - WORD / 2) this.#turns++;
      else if (told > this.#before + WORD / 2 && this.#turns > 0) this.#turns--;
      this.#before = told;
      return (this.#turns * WORD + told) / second;
    };
  }
}

function fieldOf(letter: Letter, at: number): DataflashField {
  if ('text' in letter) return { at, get: null, size: letter.size, values: 1 };
  const { size, get, values = 1 } = letter;
  return { at, get, size: size / values, values };
}

function number([size, get]: readonly [size: number, get: GetNumber]): Letter {
  return { size, get };
}
