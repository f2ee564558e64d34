import { ApiError } from '../errors.ts';
import { ITEM_PARAMS, MAX_ITEMS, type MissionItem, type MissionPart } from '../schemas/mission-item.ts';
import { itemError } from './check.ts';
import { CMD } from './commands.ts';
import { numberedFrom } from './numbered.ts';

/** Line: number, current, frame, command, four parameters, x, y, z, autocontinue. */
const HEADER = 'QGC WPL 110';
const FIRST_LINE = /^QGC\s+WPL\s+(\d{3})$/;
/** Of 2010, with 13 columns in another order and numbers of commands that no vehicle knows today. */
const FORMER = { version: '100', columns: 13 };
const COLUMNS = 12;
/** As printf of the C libraries writes it. */
const NAN = /^[-+]?(?:nan(?:\(.*\))?|1\.#(?:qnan|snan|ind)\d*)$/i;

/** Degrees and m above mean sea level. */
export interface Home {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
}

/** What a text says, not checked yet. */
export interface Draft {
  readonly items: readonly unknown[];
  readonly warnings: readonly string[];
}

/** A line with more is cut there. */
const MAX_COLUMNS = 16;

/** Comments and empty lines included. */
const MAX_LINES = 4 * MAX_ITEMS;

/** Its lines without those that are empty or a comment. @throws itemError for more than any mission has */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw itemError(MAX_ITEMS, `the text has more than ${MAX_LINES} lines`);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * The items of a `QGC WPL 110` file (https://mavlink.io/en/file_formats/), not checked yet. Other versions with its columns are read as
 * it. A waypoint with the number 0 in the first line is home, as Mission Planner, MAVProxy and QGroundControl write it, and is left out. The items are those of the lines, in their
 * order, numbered from 0; a DO_JUMP names its target by the number in the target's line, so numbers with a gap are only a warning.
 * @param lines as `linesOf` gives them @throws ApiError E_BAD_REQUEST; itemError
 */
export function readWpl([header, ...lines]: readonly string[]): Draft {
  const version = FIRST_LINE.exec(header ?? '')?.[1];
  if (version === undefined) throw noWpl(header);
  const rows = lines.map((line) => line.split(/\s+/, MAX_COLUMNS));
  if (version === FORMER.version && rows[0]?.length === FORMER.columns)
    throw new ApiError(
      'E_BAD_REQUEST',
      `The file is QGC WPL ${FORMER.version}, whose columns stand in another order. Open it in MAVProxy and save it as ${HEADER}.`,
    );
  const [number, , frame, command] = rows[0] ?? [];
  const first = number === '0' && Number(command) === CMD.waypoint ? 1 : 0;
  const warnings: string[] = [];
  if (header !== HEADER && version !== HEADER.slice(-3))
    warnings.push(`The file says that it is QGC WPL ${version}; it is read as ${HEADER}.`);
  const wide = rows.findIndex((row) => row.length > COLUMNS);
  if (wide >= 0)
    warnings.push(`Line ${wide} has more than ${COLUMNS} columns; those after the twelfth are not read.`);
  if (first === 1 && frame !== '0')
    warnings.push(`Line 0 is home, which is not flown, though its frame is ${frame} instead of 0.`);
  const numbers = rows.slice(first).map((row, index) => readNumber(row[0], index));
  const odd = numbers.findIndex((each, index) => each !== index + first);
  if (odd >= 0)
    warnings.push(
      `A line has the number ${numbers[odd]} instead of ${odd + first}: the items are taken in the order of the lines, and a DO_JUMP by the numbers in them.`,
    );
  const targets = new Map<number, number | 'twice'>();
  for (const [index, each] of numbers.entries()) targets.set(each, targets.has(each) ? 'twice' : index);
  return { items: rows.slice(first).map((row, index) => readRow(row, index, targets)), warnings };
}

/** The item whose line has a number; `twice`: more than one has. */
type Targets = ReadonlyMap<number, number | 'twice'>;

function readRow(row: readonly string[], index: number, targets: Targets): unknown {
  if (row.length < COLUMNS)
    throw itemError(index, `its line has ${row.length} columns instead of ${COLUMNS}`);
  const [, , frame, command, param1, param2, param3, param4, x, y, z, autocontinue] = row
    .slice(0, COLUMNS)
    .map((word, column) => {
      const isParam = column >= 4 && column < 8;
      return isParam && NAN.test(word) ? null : readNumber(word, index);
    });
  const target = command === CMD.jump ? targetOf(param1, index, targets) : param1;
  return { seq: index, frame, command, param1: target, param2, param3, param4, x, y, z, autocontinue };
}

function readNumber(word: string | undefined, index: number): number {
  const value = Number(word);
  if (Number.isFinite(value)) return value;
  throw itemError(index, `"${String(word).slice(0, 20)}" in its line is no number`);
}

/** The item that a DO_JUMP means. */
function targetOf(number: number | null | undefined, index: number, targets: Targets): number {
  const target = targets.get(number ?? -1);
  if (typeof target === 'number') return target;
  const what = target === 'twice' ? 'more than one line' : 'no line with an item';
  throw itemError(index, `DO_JUMP to ${number}, which is the number of ${what}`);
}

/** @returns the refusal of a text by its first line */
function noWpl(first = ''): ApiError {
  const json = /^[[{]/.test(first) ? ' Send JSON as application/json.' : '';
  return new ApiError('E_BAD_REQUEST', `The text does not begin with "${HEADER}".${json}`);
}

/** A mission with home, or zeros, as line 0; fences and rally points have none. */
export function writeWpl(items: readonly MissionItem[], part: MissionPart, home: Home | null): string {
  const { lat, lon, alt } = home ?? { lat: 0, lon: 0, alt: 0 };
  const start = part === 'mission' ? [[0, 1, 0, CMD.waypoint, 0, 0, 0, 0, lat, lon, alt, 1]] : [];
  const lines = numberedFrom(items, start.length).map((item) => {
    const params = ITEM_PARAMS.map((name) => item[name] ?? 'nan');
    const { seq, frame, command, x, y, z, autocontinue } = item;
    return [seq, 0, frame, command, ...params, x, y, z, autocontinue];
  });
  return `${HEADER}\n${[...start, ...lines].map((line) => line.join('\t')).join('\n')}\n`;
}
