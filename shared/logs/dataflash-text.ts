import { ApiError } from '../errors.ts';
import { type Family, modeNumber } from '../flight/modes.ts';
import { familyOfMessage } from './dataflash-names.ts';
import { LogBytes } from './log-bytes.ts';

/**
 * ArduPilot's log as text, `ATT, 11.20, 11.94, …` a line: what Mission Planner and the APM's own terminal make of a .BIN. Written back
 * here as the .BIN that it was (dataflash.ts).
 */

/** With which it tells its first type, within so many bytes. */
const FIRST = 'FMT, 128,';
const FIRST_BYTES = 4096;
const MOST_BYTES = 256e6;

const HEAD = [0xa3, 0x95] as const;
const FMT = { id: 128, length: 89, name: 4, format: 16, columns: 64 } as const;
const TIME = 'TimeUS';
/** How often ArduCopter 3.0 writes ATT, whose logs have no other clock where there is no GPS. */
const ATT_S = 0.1;

/** How a letter of a format is written: its size, and what a column's text becomes. */
type Write = (view: DataView, at: number, text: string) => void;
const whole =
  (set: (view: DataView, at: number, value: number) => void, factor = 1): Write =>
  (view, at, text) => {
    const value = Math.round(Number(text) * factor);
    set(view, at, Number.isFinite(value) ? value : 0);
  };
const real =
  (set: (view: DataView, at: number, value: number) => void): Write =>
  (view, at, text) =>
    set(view, at, /^-?nan/i.test(text) ? Number.NaN : Number(text));
const words =
  (size: number): Write =>
  (view, at, text) => {
    for (let index = 0; index < Math.min(size, text.length); index++)
      view.setUint8(at + index, text.charCodeAt(index) & 0xff);
  };
const int16: (view: DataView, at: number, value: number) => void = (view, at, value) =>
  view.setInt16(at, value, true);
const uint16: typeof int16 = (view, at, value) => view.setUint16(at, value, true);
const int32: typeof int16 = (view, at, value) => view.setInt32(at, value, true);
const uint32: typeof int16 = (view, at, value) => view.setUint32(at, value, true);

const LETTERS: Readonly<Record<string, readonly [size: number, write: Write]>> = {
  b: [1, whole((view, at, value) => view.setInt8(at, value))],
  B: [1, whole((view, at, value) => view.setUint8(at, value))],
  M: [1, whole((view, at, value) => view.setUint8(at, value))],
  h: [2, whole(int16)],
  H: [2, whole(uint16)],
  i: [4, whole(int32)],
  I: [4, whole(uint32)],
  f: [4, real((view, at, value) => view.setFloat32(at, value, true))],
  d: [8, real((view, at, value) => view.setFloat64(at, value, true))],
  c: [2, whole(int16, 100)],
  C: [2, whole(uint16, 100)],
  e: [4, whole(int32, 100)],
  E: [4, whole(uint32, 100)],
  L: [4, whole(int32, 1e7)],
  q: [8, whole((view, at, value) => view.setBigInt64(at, BigInt(value), true))],
  Q: [8, whole((view, at, value) => view.setBigUint64(at, BigInt(Math.max(0, value)), true))],
  n: [4, words(4)],
  N: [16, words(16)],
  Z: [64, words(64)],
};

/** @param log at its beginning */
export function isDataflashText(log: LogBytes): boolean {
  log.has(FIRST_BYTES);
  const bytes = log.bytes.subarray(log.start, log.start + FIRST_BYTES);
  return new TextDecoder('latin1').decode(bytes).includes(FIRST);
}

/** @param log at its beginning. @returns the same as binary @throws ApiError E_LOG: it is longer than is read at one go */
export function binaryOfText(log: LogBytes): LogBytes {
  const parts: string[] = [];
  const decoder = new TextDecoder('latin1');
  for (let read = 0; log.has(1); ) {
    const part = log.bytes.slice(log.start, log.start + log.there);
    read += part.length;
    if (read > MOST_BYTES)
      throw new ApiError('E_LOG', 'It is text, and has more than 256 MB: its .BIN is read whole.');
    parts.push(decoder.decode(part));
    log.skip(part.length);
  }
  const bytes = new Text().binary(parts.join(''));
  return new LogBytes((into, at) => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  }, bytes.length);
}

interface Type {
  readonly id: number;
  readonly columns: readonly string[];
  /** With the letter of a time that was put before the others. */
  readonly format: string;
  readonly length: number;
  readonly isTimed: boolean;
}

class Text {
  readonly #types = new Map<string, Type>();
  #out = new Uint8Array(64 * 1024);
  #view = new DataView(this.#out.buffer);
  #end = 0;
  #family: Family | null = null;
  /** Of the rows that have none, s. */
  #clock = 0;
  /** The time of the week at the log's beginning, s. */
  #weekAt: number | null = null;

  binary(text: string): Uint8Array {
    const before: string[] = [];
    for (const line of text.split(/\r?\n/)) {
      const [name = '', ...values] = line.split(',').map((value) => value.trim());
      if (name === 'FMT') this.#define(values);
      else if (this.#types.has(name)) this.#row(name, values);
      // The terminal of an APM begins with the firmware's name.
      else if (familyOfMessage(line.trim()) !== null) before.push(line.trim());
      for (const message of this.#types.has('MSG') ? before.splice(0) : []) this.#row('MSG', [message]);
    }
    return this.#out.subarray(0, this.#end);
  }

  #define([id = '', , name = '', format = '', ...columns]: readonly string[]): void {
    const number = Number(id);
    if (!Number.isInteger(number) || number < 1 || number > 255 || number === FMT.id || name === '') return;
    const isTimed = columns.includes('TimeUS') || columns.includes('TimeMS');
    const letters = isTimed ? format : `Q${format}`;
    const names = isTimed ? [...columns] : [TIME, ...columns];
    // What has no place in an FMT goes, from behind.
    let count = Math.min(letters.length, names.length, FMT.format);
    while (names.slice(0, count).join(',').length > FMT.columns) count--;
    const kept = letters.slice(0, count);
    if ([...kept].some((letter) => LETTERS[letter] === undefined)) return;
    const length = [...kept].reduce((sum, letter) => sum + (LETTERS[letter]?.[0] ?? 0), 3);
    this.#types.set(name, { id: number, columns: names.slice(0, count), format: kept, length, isTimed });
    const at = this.#begin(FMT.id, FMT.length);
    this.#view.setUint8(at, number);
    this.#view.setUint8(at + 1, length);
    words(FMT.name)(this.#view, at + 2, name);
    words(FMT.format)(this.#view, at + 6, kept);
    words(FMT.columns)(this.#view, at + 22, names.slice(0, count).join(','));
  }

  #row(name: string, values: readonly string[]): void {
    const type = this.#types.get(name);
    if (type === undefined) return;
    const { id, columns, format, length, isTimed } = type;
    this.#tick(name, type, values);
    let at = this.#begin(id, length);
    for (const [index, letter] of [...format].entries()) {
      const [size, write] = LETTERS[letter] ?? [0, words(0)];
      const value = isTimed ? values[index] : index === 0 ? String(this.#clock * 1e6) : values[index - 1];
      write(this.#view, at, this.#valueOf(letter, columns[index] ?? '', value ?? ''));
      at += size;
    }
    if (name === 'MSG') this.#family = familyOfMessage(values.at(-1) ?? '') ?? this.#family;
  }

  /** Letter M is written by the name of the mode. */
  #valueOf(letter: string, column: string, text: string): string {
    if (letter !== 'M' || column !== 'Mode' || /^\d+$/.test(text)) return text;
    return String(modeNumber(this.#family ?? 'copter', text.toUpperCase()) ?? 255);
  }

  #tick(name: string, { columns, isTimed }: Type, values: readonly string[]): void {
    const told = (column: string, second: number): number => {
      const at = columns.indexOf(column);
      return at < 0 ? Number.NaN : Number(values[isTimed ? at : at - 1]) / second;
    };
    // GPS.T is the time since the start; GPS.TimeMS, and before 3.1 GPS.Time, that of the week.
    const own = name === 'GPS' ? [told('T', 1e3)] : [told(TIME, 1e6), told('TimeMS', 1e3)];
    const week = name === 'GPS' ? told('Time', 1e3) : Number.NaN;
    if (Number.isFinite(week)) this.#weekAt ??= week - this.#clock;
    const at = own.find(Number.isFinite) ?? week - (this.#weekAt ?? Number.NaN);
    if (Number.isFinite(at)) this.#clock = Math.max(this.#clock, at);
    else if (name === 'ATT') this.#clock += ATT_S;
  }

  #begin(id: number, length: number): number {
    if (this.#end + length > this.#out.length) {
      const larger = new Uint8Array(this.#out.length * 2);
      larger.set(this.#out);
      this.#out = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#out.set([...HEAD, id], this.#end);
    const at = this.#end + 3;
    this.#end += length;
    return at;
  }
}
