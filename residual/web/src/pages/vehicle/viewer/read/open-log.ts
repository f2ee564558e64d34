import { LogBytes } from '../../../../../../../shared/logs/log-bytes.ts';
import { isUlog } from '../../../../../../../shared/logs/ulog.ts';
import { readOnboard, reportBy } from '../../../../../../../shared/reports/onboard.ts';
import type { FlightReport } from '../../../../../../../shared/schemas/flight-report.ts';
import { viewerWords } from '../viewer-words.ts';
import { csvLines } from './csv.ts';
import { readDataflashLog } from './dataflash-log.ts';
import { type LogGroup, LogIndex } from './log-index.ts';
import type { MavlinkMessage } from './mavlink-message.ts';
import { type Points, thinned } from './points.ts';
import { type LogFile, RowWindow } from './row-window.ts';
import type { FieldId, LogKind, LogSummary } from './summary.ts';
import { readTlogLog } from './tlog-log.ts';
import { type Track, trackOf } from './track.ts';
import { readUlogLog } from './ulog-log.ts';

/** While a log is read for the first time, and while the rows of a field are. */
const WINDOW = 1024 * 1024;
const CACHED_BYTES = 64 * 1024 * 1024;
/** Larger than any row. */
const ROW_ROOM = 128 * 1024;
/** Places are kept in 32 bits. */
const MAX_BYTES = 2 ** 32 - 1;

/** How the kinds begin; a telemetry log behind the time of its first frame. */
const HEADS = {
  dataflash: Uint8Array.of(0xa3, 0x95),
  tlog: [Uint8Array.of(0xfd), Uint8Array.of(0xfe)],
} as const;

/** A file that is no log, or one that cannot be read; its message is for the person. */
export class NoLog extends Error {}

/** A log of which only an index is in memory: values are read when they are asked for. */
export class OpenLog {
  readonly summary: LogSummary;
  readonly #file: LogFile;
  readonly #groups: readonly LogGroup[];
  /** The newest columns, by group and field; the one that was used last is the last. */
  readonly #columns = new Map<string, Float64Array>();

  private constructor(file: LogFile, kind: LogKind, index: LogIndex) {
    this.#file = file;
    this.#groups = index.groups;
    this.summary = summaryOf(kind, index);
  }

  /**
   * @param messages all that MAVLink has
   * @param onRead told how far it is
   * @param maxRows how many rows are kept
   * @throws NoLog
   */
  static open(
    file: LogFile,
    messages: readonly MavlinkMessage[],
    onRead: (done: number) => void = () => undefined,
    maxRows?: number,
  ): OpenLog {
    const bytes = (): LogBytes => new LogBytes(file.read, Math.min(file.size, MAX_BYTES), onRead, WINDOW);
    const index = new LogIndex(maxRows);
    if (file.size > MAX_BYTES) index.full = true;
    const kind = read(bytes, index, messages);
    index.finish();
    if (index.groups.length === 0) throw new NoLog(kind === 'tlog' ? viewerWords.noLog : viewerWords.noTypes);
    return new OpenLog(file, kind, index);
  }

  /** What a plot can show of a field between two times. @param buckets how many parts it can tell apart */
  points(id: FieldId, from: number, to: number, buckets: number): Points {
    return thinned(this.#groupOf(id).times, this.#columnOf(id), from, to, buckets);
  }

  /** The newest values at a time; null: none yet, or no number. */
  values(ids: readonly FieldId[], at: number): readonly (number | null)[] {
    const window = new RowWindow(this.#file, ROW_ROOM);
    return ids.map((id) => {
      const group = this.#groupOf(id);
      const row = rowBefore(group.times, at);
      const get = group.fields[id.field]?.get;
      if (row < 0 || get == null) return null;
      const value = get(window.view, window.at(group.placeOf(row), group.rowBytes));
      return Number.isFinite(value) ? value : null;
    });
  }

  /** Where the vehicle was; null: the log does not say. */
  track(): Track | null {
    return trackOf(this.summary.groups, (id) => ({
      times: this.#groupOf(id).times,
      values: this.#columnOf(id),
    }));
  }

  /** What happened in the flight; null: a telemetry log, whose report the node makes. */
  report(): FlightReport | null {
    const { kind } = this.summary;
    if (kind === 'tlog') return null;
    const log = new LogBytes(this.#file.read, this.#file.size, undefined, WINDOW);
    return reportBy((sink) => readOnboard(log, sink));
  }

  /** The rows of fields between two times, as lines of CSV. */
  csv(ids: readonly FieldId[], from: number, to: number): Generator<string> {
    const groups = [...new Set(ids.map(({ group }) => group))].map((at) => {
      const group = this.#groupOf({ group: at, field: 0 });
      const fields = ids.filter((id) => id.group === at).map(({ field }) => field);
      return { group, fields };
    });
    return csvLines(this.#file, groups, from, to);
  }

  #groupOf({ group }: FieldId): LogGroup {
    const found = this.#groups[group];
    if (found === undefined) throw new NoLog(viewerWords.failed);
    return found;
  }

  #columnOf(id: FieldId): Float64Array {
    const key = `${id.group} ${id.field}`;
    const values = this.#columns.get(key) ?? columnOf(this.#file, this.#groupOf(id), id.field);
    this.#columns.delete(key);
    let held = values.byteLength;
    for (const [older, column] of [...this.#columns].toReversed()) {
      held += column.byteLength;
      if (held > CACHED_BYTES) this.#columns.delete(older);
    }
    this.#columns.set(key, values);
    return values;
  }
}

/** The kinds begin in their own ways; what was cut off at its front is looked through. */
function read(bytes: () => LogBytes, index: LogIndex, messages: readonly MavlinkMessage[]): LogKind {
  const log = bytes();
  if (isUlog(log)) {
    if (!readUlogLog(log, index)) throw new NoLog(viewerWords.unknownUlog);
    return 'ulog';
  }
  const isDataflash = log.isNext(HEADS.dataflash);
  if (isDataflash || !isTlog(bytes())) {
    if (readDataflashLog(log, index) > 0 || isDataflash) return 'dataflash';
  }
  readTlogLog(bytes(), index, messages);
  return 'tlog';
}

function isTlog(log: LogBytes): boolean {
  return HEADS.tlog.some((head) => log.isNext(head, 8));
}

function summaryOf(kind: LogKind, index: LogIndex): LogSummary {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { times } of index.groups) {
    from = Math.min(from, times[0] ?? from);
    to = Math.max(to, times.at(-1) ?? to);
  }
  return {
    kind,
    groups: index.groups.map(({ name, seen, fields }) => ({
      name,
      rows: seen,
      fields: fields.map((field) => ({ name: field.name, unit: field.unit, isText: field.get === null })),
    })),
    rows: index.rows,
    span: from > to ? null : [from, to],
    utcOfZero: index.utcOfZero,
    modes: index.marks.modes(to),
    events: index.marks.events,
    full: index.full,
    marksFull: index.marks.full,
  };
}

/** All values of a field, by time. */
function columnOf(file: LogFile, group: LogGroup, field: number): Float64Array {
  const values = new Float64Array(group.count).fill(Number.NaN);
  const get = group.fields[field]?.get;
  if (get == null) return values;
  const window = new RowWindow(file, WINDOW);
  const { view } = window;
  const { places, rowAt, rowBytes } = group;
  for (const [at, place] of places.entries())
    values[rowAt?.[at] ?? at] = get(view, window.at(place, rowBytes));
  return values;
}

/** The last row at or before a time; -1: none. */
function rowBefore(times: Float64Array, at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
