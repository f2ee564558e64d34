/** How the messages of a ULog are laid out (https://docs.px4.io/main/en/dev_log/ulog_file_format.html). */

/** Size and reader of each type that PX4 has. */
const BASIC: Readonly<Record<string, readonly [size: number, get: (bytes: Buffer, at: number) => number]>> = {
  int8_t: [1, (bytes, at) => bytes.readInt8(at)],
  uint8_t: [1, (bytes, at) => bytes.readUInt8(at)],
  bool: [1, (bytes, at) => bytes.readUInt8(at)],
  char: [1, (bytes, at) => bytes.readUInt8(at)],
  int16_t: [2, (bytes, at) => bytes.readInt16LE(at)],
  uint16_t: [2, (bytes, at) => bytes.readUInt16LE(at)],
  int32_t: [4, (bytes, at) => bytes.readInt32LE(at)],
  uint32_t: [4, (bytes, at) => bytes.readUInt32LE(at)],
  int64_t: [8, (bytes, at) => Number(bytes.readBigInt64LE(at))],
  uint64_t: [8, (bytes, at) => Number(bytes.readBigUInt64LE(at))],
  float: [4, (bytes, at) => bytes.readFloatLE(at)],
  double: [8, (bytes, at) => bytes.readDoubleLE(at)],
};

/** PX4 has about 250 messages, of at most 100 fields; none nests deeper than two. */
const MAX_FORMATS = 1024;
const MAX_CHARS = 1024 * 1024;
const MAX_FIELDS = 256;
const MAX_DEPTH = 8;
/** A message tells its size in 16 bits. */
const MAX_BYTES = 0xffff;

interface Field {
  readonly type: string;
  readonly count: number;
  readonly name: string;
}

/** A field of a message: its place from the start of the data, and how often it is there. */
export interface Place {
  readonly at: number;
  readonly step: number;
  readonly count: number;
  readonly get: (bytes: Buffer, at: number) => number;
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
      const basic = BASIC[type];
      if (basic !== undefined) places.set(field, { at, step, count, get: basic[1] });
      at += step * count;
      if (at > MAX_BYTES) return new Map();
    }
    return places;
  }

  /** More than any message has where it cannot be known. */
  #sizeOf(type: string, depth: number): number {
    const basic = BASIC[type];
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
