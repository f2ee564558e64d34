import { itemError } from './check.ts';
import { CMD } from './commands.ts';
import type { Draft } from './wpl.ts';

/**
 * The files of MAVProxy and older ground stations that are lists of points, as pymavlink's mavwp.py reads them: a fence is its return
 * point, then the corners of one polygon to stay in, closed by the first of them again; rally points are lines with RALLY.
 */

const RELATIVE = 3;
const PAIR = /^-?[\d.]+\s+-?[\d.]+$/;

export function isFencePoints([first = '']: readonly string[]): boolean {
  return PAIR.test(first);
}

export function isRallyPoints([first = '']: readonly string[]): boolean {
  return /^RALLY\s/i.test(first);
}

/** @throws itemError */
export function readFencePoints(lines: readonly string[]): Draft {
  const points = lines.map((line, index) => {
    const [x, y, ...more] = line.split(/\s+/, 3).map(Number);
    if (!Number.isFinite(x) || !Number.isFinite(y) || more.length > 0)
      throw itemError(index, 'its line is not a latitude and a longitude');
    return { frame: 0, x, y };
  });
  const [home, ...corners] = points;
  const [first, last] = [corners[0], corners.at(-1)];
  const closed = corners.length > 1 && first?.x === last?.x && first?.y === last?.y;
  const polygon = closed ? corners.slice(0, -1) : corners;
  return {
    items: [
      { ...home, command: CMD.returnPoint },
      ...polygon.map((corner) => ({ ...corner, command: CMD.polygonInclusion, param1: polygon.length })),
    ],
    warnings: [],
  };
}

/** RALLY, latitude, longitude, height above home, and what the mission protocol has no room for. @throws itemError */
export function readRallyPoints(lines: readonly string[]): Draft {
  const rows = lines.map((line) => line.split(/\s+/, 8));
  const items = rows.map(([word, ...values], index) => {
    const [x, y, z, ...more] = values.map(Number);
    if (word?.toUpperCase() !== 'RALLY' || more.length !== 3)
      throw itemError(index, 'its line is not RALLY and six numbers');
    return { frame: RELATIVE, command: CMD.rallyPoint, x, y, z };
  });
  const lost = rows.some((row) => row.slice(4).some((value) => Number(value) !== 0));
  return {
    items,
    warnings: lost
      ? [
          'Break altitude, landing direction and flags of the rally points are not sent: MAVLink items have none.',
        ]
      : [],
  };
}
