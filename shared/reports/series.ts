import { ApiError } from '../errors.ts';
import { DataflashClock, type DataflashType, walkDataflash } from '../logs/dataflash.ts';
import type { LogBytes } from '../logs/log-bytes.ts';
import { LogClock } from '../logs/log-clock.ts';
import type { GetNumber } from '../logs/numbers.ts';
import { isUlog, ulogStart, walkUlog } from '../logs/ulog.ts';
import { UlogFormats } from '../logs/ulog-format.ts';
import type { LogSeries } from '../schemas/log-series.ts';
import type { FileKind } from './report.ts';
import { Thinned } from './thinned.ts';
import { readTlog } from './tlog.ts';

export interface SeriesWish {
  /** `BAT.Volt`, `BAT[1].Volt` of the second battery. */
  readonly fields: readonly string[];
  /** s since the first record; null: all. */
  readonly from: number | null;
  readonly to: number | null;
  /** Of each field, at most. */
  readonly points: number;
}

/** Columns that say which sensor a row is of. */
const INSTANCES: readonly string[] = ['I', 'Inst', 'Instance', 'IMU', 'C'];
/** In a refusal. */
const MAX_NAMED = 60;

/**
 * What fields of a log were, thinned to their lowest and highest.
 * @param log at its beginning. @throws ApiError E_LOG for what is no log, E_NOT_FOUND for a field that it does not have
 */
export function seriesOfLog(log: LogBytes, kind: FileKind, wish: SeriesWish): LogSeries {
  const wanted = new Wanted(wish);
  if (kind === 'tlog') readTlogFields(log, wanted);
  else if (isUlog(log)) readUlogFields(log, wanted);
  else readDataflashFields(log, wanted);
  return wanted.series();
}

interface Field {
  readonly message: string;
  readonly instance: number;
  readonly name: string;
  readonly thinned: Thinned;
  isThere: boolean;
}

class Wanted {
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #byMessage: ReadonlyMap<string, readonly Field[]>;
  readonly #from: number;
  readonly #to: number;
  /** Of messages that are wanted, and messages that are there. */
  readonly #known = new Set<string>();
  #start: number | null = null;
  #end = 0;

  constructor({ fields, from, to, points }: SeriesWish) {
    this.#fields = new Map(fields.map((each) => [each, fieldOf(each, points)]));
    this.#byMessage = Map.groupBy(this.#fields.values(), ({ message }) => message);
    this.#from = from ?? 0;
    this.#to = to ?? Infinity;
  }

  of(message: string): readonly Field[] {
    return this.#byMessage.get(message) ?? [];
  }

  knows(name: string): void {
    if (this.#known.size < MAX_NAMED) this.#known.add(name);
  }

  /** s since the first record; null: it is not wanted. */
  since(at: number): number | null {
    this.#start ??= at;
    const s = Math.max(0, at - this.#start);
    this.#end = Math.max(this.#end, s);
    return s >= this.#from && s <= this.#to ? s : null;
  }

  series(): LogSeries {
    if (this.#start === null) throw new ApiError('E_LOG', 'This file has nothing that a log has.');
    const missing = [...this.#fields].filter(([, { isThere }]) => !isThere).map(([name]) => name);
    if (missing.length > 0)
      throw new ApiError(
        'E_NOT_FOUND',
        `This log has no ${missing.join(', ')}. It has, among others: ${[...this.#known].join(', ')}.`,
      );
    return {
      from: rounded(this.#from),
      to: rounded(Math.min(this.#to, this.#end)),
      fields: [...this.#fields].map(([name, { thinned }]) => ({
        name,
        points: thinned.points().map(([at, value]) => [rounded(at), rounded(value)]),
      })),
    };
  }
}

function fieldOf(text: string, points: number): Field {
  const [, message = text, instance = '0', name = ''] = /^(\w+)(?:\[(\d+)\])?\.(.+)$/.exec(text) ?? [];
  return { message, instance: Number(instance), name, thinned: new Thinned(points), isThere: false };
}

function rounded(value: number): number {
  return Number(value.toPrecision(7));
}

function readDataflashFields(log: LogBytes, wanted: Wanted): void {
  const clock = new DataflashClock(log);
  const getters = new WeakMap<DataflashType, (field: Field, start: number) => number | null>();
  const types = walkDataflash(log, (type) => {
    const { view, start } = log;
    const at = clock.timeOf(type, view, start);
    const s = at === null ? null : wanted.since(at);
    let read = getters.get(type);
    if (read === undefined) {
      read = dataflashReader(type, log.view, wanted);
      getters.set(type, read);
    }
    const fields = wanted.of(type.name);
    for (const field of fields) {
      const value = read(field, start);
      if (value === null) continue;
      field.isThere = true;
      if (s !== null) field.thinned.take(s, value);
    }
    return true;
  });
  if (types === 0) throw new ApiError('E_LOG', 'This log of the vehicle names none of its messages.');
}

/** @returns null: of another sensor, or there is no such column */
function dataflashReader(
  type: DataflashType,
  view: DataView,
  wanted: Wanted,
): (field: Field, start: number) => number | null {
  wanted.knows(type.name);
  if (wanted.of(type.name).length > 0)
    for (const column of type.fields.keys()) wanted.knows(`${type.name}.${column}`);
  const instance = INSTANCES.map((column) => type.fields.get(column)).find((each) => each !== undefined);
  return ({ name, instance: one }, start) => {
    const field = type.fields.get(name);
    if (field?.get == null) return null;
    const sensor = instance?.get == null ? 0 : instance.get(view, start + instance.at);
    return sensor === one ? field.get(view, start + field.at) : null;
  };
}

function readUlogFields(log: LogBytes, wanted: Wanted): void {
  const formats = new UlogFormats();
  const clock = new LogClock(ulogStart(log));
  const topics = new Map<
    number,
    { readonly time: GetNumber; readonly fields: readonly (readonly [Field, GetNumber, number])[] }
  >();
  const isKnown = walkUlog(log, (letter, at, size) => {
    const { view, bytes } = log;
    if (letter === 'F') formats.define(new TextDecoder('latin1').decode(bytes.subarray(at, at + size)));
    else if (letter === 'A' && size >= 4) {
      const topic = new TextDecoder('latin1').decode(bytes.subarray(at + 3, at + size));
      const [instance, id] = [view.getUint8(at), view.getUint16(at + 1, true)];
      const fields = wanted.of(topic);
      wanted.knows(topic);
      const flat = new Map(
        (fields.length === 0 ? [] : formats.flatFieldsOf(topic)).map((field) => [field.name, field]),
      );
      for (const name of flat.keys()) wanted.knows(`${topic}.${name}`);
      const time = formats.placesOf(topic).get('timestamp');
      if (time !== undefined)
        topics.set(id, {
          time: (data, start) => time.get(data, start + time.at),
          fields: fields.flatMap((field) => {
            const place = flat.get(field.name);
            const get = place?.get ?? null;
            if (place === undefined || get === null || field.instance !== instance) return [];
            field.isThere = true;
            return [
              [
                field,
                (data: DataView, start: number) => get(data, start + place.at),
                place.at + place.size,
              ] as const,
            ];
          }),
        });
    } else if (letter === 'D' && size > 10) {
      const topic = topics.get(view.getUint16(at, true));
      const told = topic === undefined ? null : clock.timeOf(topic.time(view, at + 2) / 1e6);
      const s = told === null ? null : wanted.since(told);
      if (topic === undefined || s === null) return true;
      for (const [field, get, end] of topic.fields)
        if (end <= size - 2) field.thinned.take(s, get(view, at + 2));
    }
    return true;
  });
  if (!isKnown) throw new ApiError('E_LOG', 'This log of PX4 is written in a way that is not known.');
}

/** Those that a report reads of it. */
function readTlogFields(log: LogBytes, wanted: Wanted): void {
  readTlog(log, {
    seen: (at) => void wanted.since(at),
    take(at, fact) {
      const s = wanted.since(at);
      if (fact.of === undefined) return;
      const value = Object.values(fact).find((each) => typeof each === 'number');
      if (value === undefined) return;
      wanted.knows(fact.of);
      const [message = ''] = fact.of.split('.');
      for (const field of wanted.of(message)) {
        if (`${message}.${field.name}` !== fact.of) continue;
        field.isThere = true;
        if (s !== null) field.thinned.take(s, value);
      }
    },
  });
}
