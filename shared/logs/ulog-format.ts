import { entriesOf } from '../member.ts';
import { type GetNumber, NUMBERS } from './numbers.ts';

/** How the messages of a ULog are laid out (https://docs.px4.io/main/en/dev_log/ulog_file_format.html). */

/** Size and reader of each type that PX4 has. */
const BASIC: ReadonlyMap<string, readonly [size: number, get: GetNumber]> = new Map([
  ...entriesOf(NUMBERS),
  ['bool', NUMBERS.uint8_t],
  ['char', NUMBERS.uint8_t],
]);

/** PX4 has about 250 messages, of at most 100 fields; none nests deeper than two. */
const MAX_FORMATS = 1024;
const MAX_CHARS = 1024 * 1024;
const MAX_FIELDS = 256;
const MAX_DEPTH = 8;
const MAX_FLAT = 2048;
/** A message tells its size in 16 bits. */
const MAX_BYTES = 0xffff;

interface Field {
  readonly type: string;
  readonly count: number;
  readonly name: string;
}

/** A number of a message, or its text: its place from the start of the data. */
export interface FlatField {
  /** With the names of what it is part of, `esc[0].rpm`. */
  readonly name: string;
  readonly at: number;
  /** null: a text of `size` bytes. */
  readonly get: GetNumber | null;
  readonly size: number;
}

/** A field of a message: its place from the start of the data, and how often it is there. */
export interface Place {
  readonly at: number;
  readonly step: number;
  readonly count: number;
  readonly get: GetNumber;
}

/** The formats that a log defines. */
export class UlogFormats {
  readonly #formats = new Map<string, readonly Field[]>();
  readonly #places = new Map<string, ReadonlyMap<string, Place>>();
  #chars = 0;

  /** @param text `name:type field;type[3] field;` */
  define(text: string): void {
    const colon = text.indexOf(':');
    this.#chars += text.length;
    if (colon < 1 || this.#formats.size >= MAX_FORMATS || this.#chars > MAX_CHARS) return;
    this.#places.clear();
    this.#formats.set(
      text.slice(0, colon),
      text
        .slice(colon + 1)
        .split(';', MAX_FIELDS)
        .flatMap(fieldOf),
    );
  }

  /** The fields of a message that are numbers, by name; empty for a format that is not there or cannot be. */
  placesOf(name: string): ReadonlyMap<string, Place> {
    const known = this.#places.get(name) ?? this.#find(name);
    if (this.#formats.has(name)) this.#places.set(name, known);
    return known;
  }

  #find(name: string): ReadonlyMap<string, Place> {
    const places = new Map<string, Place>();
    let at = 0;
    for (const { type, count, name: field } of this.#formats.get(name) ?? []) {
      const step = this.#sizeOf(type, 0);
      const basic = BASIC.get(type);
      if (basic !== undefined) places.set(field, { at, step, count, get: basic[1] });
      at += step * count;
      if (at > MAX_BYTES) return new Map();
    }
    return places;
  }

  /** All that a message has, one by one; empty for a format that is not there or cannot be. */
  flatFieldsOf(name: string): readonly FlatField[] {
    const fields: FlatField[] = [];
    return this.#sizeOf(name, 0) <= MAX_BYTES && this.#flatten(name, '', 0, fields) ? fields : [];
  }

  /** @returns whether it could be: what nests in itself has no end */
  #flatten(name: string, path: string, from: number, into: FlatField[]): boolean {
    let at = from;
    for (const { type, count, name: field } of this.#formats.get(name) ?? []) {
      const basic = BASIC.get(type);
      const step = this.#sizeOf(type, 0);
      if (type === 'char' && count > 1) into.push({ name: `${path}${field}`, at, get: null, size: count });
      else if (!field.startsWith('_padding'))
        for (let index = 0; index < count; index++) {
          if (into.length >= MAX_FLAT) return false;
          const full = count === 1 ? `${path}${field}` : `${path}${field}[${index}]`;
          const place = at + step * index;
          if (basic !== undefined) into.push({ name: full, at: place, get: basic[1], size: step });
          else if (!this.#flatten(type, `${full}.`, place, into)) return false;
        }
      at += step * count;
    }
    return true;
  }

  /** More than any message has where it cannot be known. */
  #sizeOf(type: string, depth: number): number {
    const basic = BASIC.get(type);
    if (basic !== undefined) return basic[0];
    const fields = this.#formats.get(type);
    if (fields === undefined || depth > MAX_DEPTH) return MAX_BYTES + 1;
    let size = 0;
    for (const field of fields) {
      size += this.#sizeOf(field.type, depth + 1) * field.count;
      if (size > MAX_BYTES) break;
    }
    return size;
  }
}

function fieldOf(text: string): readonly Field[] {
  const [, type, count = '1', name] = /^\s*(\w+)(?:\[(\d{1,5})\])? (\w+)\s*$/.exec(text) ?? [];
  return type === undefined || name === undefined ? [] : [{ type, count: Number(count), name }];
}
