import { csvCell } from '../../../../../../../shared/csv.ts';
import type { LogGroup } from './log-index.ts';
import { firstFrom } from './points.ts';
import { type LogFile, RowWindow } from './row-window.ts';

const WINDOW = 256 * 1024;
/** Of the time: microseconds, as the logs have them. */
const DIGITS = 6;

/** The rows of one message in turn. */
class Rows {
  readonly #group: LogGroup;
  readonly #fields: readonly number[];
  readonly #window: RowWindow;
  readonly #end: number;
  #row: number;

  constructor(file: LogFile, { group, fields }: CsvPart, from: number, to: number) {
    this.#group = group;
    this.#fields = fields;
    this.#window = new RowWindow(file, WINDOW);
    this.#row = firstFrom(group.times, from);
    this.#end = to === Number.POSITIVE_INFINITY ? group.count : firstBehind(group.times, to);
  }

  /** Of the next row; infinite: there is none. */
  get time(): number {
    return this.#row < this.#end ? (this.#group.times[this.#row] ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** Its values, as text. */
  take(): readonly string[] {
    const { fields, rowBytes } = this.#group;
    const start = this.#window.at(this.#group.placeOf(this.#row), rowBytes);
    this.#row++;
    return this.#fields.map((field) => {
      const value = fields[field]?.get?.(this.#window.view, start) ?? Number.NaN;
      return Number.isFinite(value) ? String(value) : '';
    });
  }
}

/** Fields of one message. */
interface CsvPart {
  readonly group: LogGroup;
  readonly fields: readonly number[];
}

/** One column of times, and one for each field; the rows of all messages by time, each with its own values. */
export function* csvLines(
  file: LogFile,
  parts: readonly CsvPart[],
  from: number,
  to: number,
): Generator<string> {
  const names = parts.flatMap(({ group, fields }) =>
    fields.map((field) => `${group.name}.${group.fields[field]?.name ?? ''}`),
  );
  yield `${['time_s', ...names].map(csvCell).join(',')}\n`;
  const rows = parts.map((part) => new Rows(file, part, from, to));
  const empty = parts.map(({ fields }) => fields.map(() => ''));
  for (;;) {
    let next = 0;
    for (const [at, each] of rows.entries()) if (each.time < (rows[next]?.time ?? 0)) next = at;
    const time = rows[next]?.time ?? Number.POSITIVE_INFINITY;
    if (time === Number.POSITIVE_INFINITY) return;
    const taken = rows[next]?.take() ?? [];
    yield `${time.toFixed(DIGITS)},${empty.flatMap((none, at) => (at === next ? taken : none)).join(',')}\n`;
  }
}

function firstBehind(times: Float64Array, at: number): number {
  let row = firstFrom(times, at);
  while (row < times.length && times[row] === at) row++;
  return row;
}
