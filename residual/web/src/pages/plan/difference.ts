import { ITEM_PARAMS } from '../../../../../shared/schemas/mission-item.ts';
import type { Item, Items } from './list.ts';

export type Mark = 'same' | 'added' | 'changed';

export interface Difference {
  /** Of each item of the sketch. */
  readonly marks: readonly Mark[];
  /** Items of the vehicle that the sketch does not have. */
  readonly removed: Items;
}

// Beyond it the middle is compared item by item, as the table of lengths would take too long.
const MAX_CELLS = 4_000_000;

/** What must be done to the vehicle's list to make it the sketch's. */
export function difference(sketch: Items, held: Items): Difference {
  const marks: Mark[] = sketch.map(() => 'same');
  const removed: Item[] = [];
  const same = (a: number, b: number): boolean => isSame(sketch[a], held[b]);
  let start = 0;
  while (start < sketch.length && start < held.length && same(start, start)) start++;
  let end = 0;
  while (
    end < Math.min(sketch.length, held.length) - start &&
    same(sketch.length - 1 - end, held.length - 1 - end)
  )
    end++;
  const [endA, endB] = [sketch.length - end, held.length - end];
  let [a, b] = [start, start];
  /** What lies between two common items: pairs are changes, the rest is new or gone. */
  const gap = (toA: number, toB: number): void => {
    for (; a < toA && b < toB; a++, b++) marks[a] = 'changed';
    for (; a < toA; a++) marks[a] = 'added';
    removed.push(...held.slice(b, toB));
  };
  for (const [atA, atB] of common(start, endA, endB, same)) {
    gap(atA, atB);
    [a, b] = [atA + 1, atB + 1];
  }
  gap(endA, endB);
  return { marks, removed };
}

/** The longest common subsequence of what lies from `start` to the two ends. */
function common(
  start: number,
  endA: number,
  endB: number,
  same: (a: number, b: number) => boolean,
): readonly (readonly [number, number])[] {
  const [rows, columns] = [endA - start, endB - start];
  if (rows === 0 || columns === 0) return [];
  if (rows * columns > MAX_CELLS)
    return Array.from({ length: Math.min(rows, columns) }, (_, n) => [start + n, start + n] as const).filter(
      ([a, b]) => same(a, b),
    );
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] = same(start + row, start + column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (same(start + row, start + column)) pairs.push([start + row++, start + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}

/** As the vehicle keeps them: 32-bit floats, and degrees in steps of 1e-7. */
export function isSame(a: Item | undefined, b: Item | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const float = (value: number | null): number => (value === null ? Number.NaN : Math.fround(value));
  return (
    a.command === b.command &&
    a.frame === b.frame &&
    a.autocontinue === b.autocontinue &&
    Math.abs(a.x - b.x) < 1.5e-7 &&
    Math.abs(a.y - b.y) < 1.5e-7 &&
    float(a.z) === float(b.z) &&
    ITEM_PARAMS.every((name) => Object.is(float(a[name]), float(b[name])))
  );
}
