import { ApiError } from '../errors.ts';
import { itemError } from './check.ts';
import { CMD } from './commands.ts';
import { ITEM_PARAMS, type MissionItem } from './item.ts';

/** Line: number, current, frame, command, four parameters, x, y, z, autocontinue. */
const HEADER = 'QGC WPL 110';
const COLUMNS = 12;

/** Degrees and m above mean sea level. */
export interface Home {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
}

/**
 * The items of a `QGC WPL 110` file (https://mavlink.io/en/file_formats/), not checked yet. A first line with number 0, frame 0 and
 * NAV_WAYPOINT is home, as Mission Planner, MAVProxy and QGroundControl write it, and is left out; a DO_JUMP then counts with it.
 * @throws ApiError E_BAD_REQUEST, E_MISSION_ITEM
 */
export function readWpl(text: string): readonly unknown[] {
  const [header, ...lines] = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (header !== HEADER)
    throw new ApiError(
      'E_BAD_REQUEST',
      `The text does not begin with "${HEADER}". Send JSON as application/json.`,
    );
  const rows = lines.map((line) => line.split(/\s+/));
  const [number, , frame, command] = rows[0] ?? [];
  const first = number === '0' && frame === '0' && Number(command) === CMD.waypoint ? 1 : 0;
  return rows.slice(first).map((row, index) => readRow(row, index, first));
}

function readRow(row: readonly string[], index: number, first: 0 | 1): unknown {
  if (row.length !== COLUMNS)
    throw itemError(index, `its line has ${row.length} columns instead of ${COLUMNS}`);
  const [number, , frame, command, param1, param2, param3, param4, x, y, z, autocontinue] = row.map(
    (word, column) => {
      const isParam = column >= 4 && column < 8;
      if (isParam && word.toLowerCase() === 'nan') return null;
      const value = Number(word);
      if (!Number.isFinite(value)) throw itemError(index, `"${word.slice(0, 20)}" in its line is no number`);
      return value;
    },
  );
  if (number !== index + first)
    throw itemError(index, `its line has the number ${number} instead of ${index + first}`);
  const target = command === CMD.jump && typeof param1 === 'number' ? param1 - first : param1;
  return { frame, command, param1: target, param2, param3, param4, x, y, z, autocontinue };
}

/** With home, or zeros, as line 0. */
export function writeWpl(items: readonly MissionItem[], home: Home | null): string {
  const { lat, lon, alt } = home ?? { lat: 0, lon: 0, alt: 0 };
  const lines = items.map((item) => {
    const params = ITEM_PARAMS.map((name) => {
      const value = item[name];
      if (value === null) return 'nan';
      return name === 'param1' && item.command === CMD.jump ? value + 1 : value;
    });
    const { seq, frame, command, x, y, z, autocontinue } = item;
    return [seq + 1, 0, frame, command, ...params, x, y, z, autocontinue];
  });
  const all = [[0, 1, 0, CMD.waypoint, 0, 0, 0, 0, lat, lon, alt, 1], ...lines];
  return `${HEADER}\n${all.map((line) => line.join('\t')).join('\n')}\n`;
}
