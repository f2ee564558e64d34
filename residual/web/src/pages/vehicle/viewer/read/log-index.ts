import type { GetNumber } from '../../../../../../../shared/logs/numbers.ts';
import { Marks } from './marks.ts';

/** What is kept of a log that is open: where the rows of each message are, and when they were. */

/** A column of a message. */
export interface LogField {
  readonly name: string;
  /** What it is in; empty: not known. */
  unit: string;
  /** The number of the row that begins at a place, NaN where it is not there; null: a text. */
  readonly get: GetNumber | null;
}

/** How much of a log is kept; what is beyond is said (`LogIndex.full`). A row takes 12 bytes, and half as much again while the log is read. */
const MAX_ROWS = 10_000_000;
const MAX_GROUPS = 4096;
/** Of all groups together. */
const MAX_FIELDS = 100_000;
const FIRST_ROOM = 64;
const GROWTH = 1.5;

/** The rows of one message of one sender or sensor. */
export class LogGroup {
  readonly name: string;
  readonly fields: readonly LogField[];
  /** How many bytes from its beginning a row needs, at most. */
  readonly rowBytes: number;
  /** Those without a time, too. */
  seen = 0;
  #count = 0;
  #places = new Uint32Array(0);
  #times = new Float64Array(0);
  #order: Uint32Array | null = null;

  constructor(name: string, fields: readonly LogField[], rowBytes: number) {
    this.name = name;
    this.fields = fields;
    this.rowBytes = rowBytes;
  }

  /** How many rows have a time. */
  get count(): number {
    return this.#count;
  }

  /** Of the rows, ascending; s on the clock of the log. */
  get times(): Float64Array {
    return this.#times.subarray(0, this.#count);
  }

  /** Where a row begins in the file. @param row by time */
  placeOf(row: number): number {
    return this.#places[this.#order?.[row] ?? row] ?? 0;
  }

  /** Where the rows begin, in the order of the file; `rowAt` says which row by time each of them is. */
  get places(): Uint32Array {
    return this.#places.subarray(0, this.#count);
  }

  /** By the place in the file: the row by time. null: in the same order. */
  get rowAt(): Uint32Array | null {
    if (this.#order === null) return null;
    const rows = new Uint32Array(this.#count);
    for (const [row, at] of this.#order.entries()) rows[at] = row;
    return rows;
  }

  add(place: number, time: number): void {
    if (this.#count === this.#places.length) this.#grow();
    this.#places[this.#count] = place;
    this.#times[this.#count] = time;
    this.#count++;
  }

  /** Brings the rows into the order of their times, which a clock that went back has broken. */
  finish(): void {
    const times = this.#times;
    let ordered = true;
    for (let row = 1; row < this.#count && ordered; row++)
      ordered = (times[row] ?? 0) >= (times[row - 1] ?? 0);
    if (ordered) return;
    const order = Uint32Array.from({ length: this.#count }, (_, row) => row);
    order.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
    this.#order = order;
    this.#times = Float64Array.from(order, (row) => times[row] ?? 0);
  }

  #grow(): void {
    const room = Math.max(FIRST_ROOM, Math.ceil(this.#count * GROWTH));
    const [places, times] = [new Uint32Array(room), new Float64Array(room)];
    places.set(this.#places);
    times.set(this.#times);
    this.#places = places;
    this.#times = times;
  }
}

/** All rows of a log. */
export class LogIndex {
  groups: readonly LogGroup[] = [];
  readonly marks = new Marks();
  /** Time of day at zero of the clock of the log, ms since 1970; null: the log does not say. */
  utcOfZero: number | null = null;
  /** Whether there is more than is kept. */
  full = false;
  readonly #maxRows: number;
  readonly #made: LogGroup[] = [];
  #rows = 0;
  #fields = 0;

  /** @param maxRows how many rows are kept */
  constructor(maxRows: number = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  get rows(): number {
    return this.#rows;
  }

  /** A new group; null where there are too many, and its rows are not kept. */
  group(name: string, fields: readonly LogField[], rowBytes: number): LogGroup | null {
    if (this.#made.length >= MAX_GROUPS || this.#fields + fields.length > MAX_FIELDS) {
      this.full = true;
      return null;
    }
    const group = new LogGroup(name, fields, rowBytes);
    this.#made.push(group);
    this.#fields += fields.length;
    return group;
  }

  /** @returns whether it is kept; no more is then */
  add(group: LogGroup, place: number, time: number): boolean {
    if (this.#rows >= this.#maxRows) {
      this.full = true;
      return false;
    }
    this.#rows++;
    group.seen++;
    group.add(place, time);
    return true;
  }

  /** To be called when the whole log was read: there are `groups` then. */
  finish(): void {
    for (const group of this.#made) group.finish();
    // What was announced and never came is no message of this log.
    this.groups = this.#made
      .filter(({ seen }) => seen > 0)
      .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    this.marks.finish();
  }
}
