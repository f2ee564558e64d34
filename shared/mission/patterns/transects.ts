import { apart, type Flat } from './plane.ts';

/** Lines side by side, in the order in which they are flown. */

/** From its first point to its last; a corridor's has points between. */
export type Transect = readonly Flat[];

/** Neighbours that follow each other: a part of the area without a notch. */
type Cell = readonly Transect[];

interface Way {
  readonly transects: readonly Transect[];
  readonly start: Flat;
  readonly end: Flat;
}

/** A cell, flown from one of its four corners. @param entry bit 0: the last line first; bit 1: each the other way around */
function wayThrough(cell: Cell, entry: number, alternate: boolean): Way | null {
  const lines = (entry & 1) === 0 ? cell : cell.toReversed();
  const ordered = alternate
    ? [...lines.filter((_, at) => at % 2 === 0), ...lines.filter((_, at) => at % 2 === 1).toReversed()]
    : lines;
  const transects = ordered.map((line, at) =>
    (at % 2 === 1) === (entry & 2) > 0 ? line : line.toReversed(),
  );
  const start = transects[0]?.[0];
  const end = transects.at(-1)?.at(-1);
  return start === undefined || end === undefined ? null : { transects, start, end };
}

/** The cells one after the other: the first from its corner `entry`, each other from what lies nearest. */
export function waysThrough(
  cells: readonly Cell[],
  entry: number,
  alternate: boolean,
  from: Flat | null,
): readonly Transect[] {
  const left = new Set(cells);
  const flown: Transect[] = [];
  let here = from;
  while (left.size > 0) {
    const first = (entry & 1) === 0 ? cells[0] : cells.at(-1);
    const offered = (here === null && first !== undefined ? [first] : [...left]).flatMap((cell) =>
      (here === null ? [entry] : [0, 1, 2, 3]).flatMap((corner) => {
        const way = wayThrough(cell, corner, alternate);
        return way === null ? [] : [{ cell, way }];
      }),
    );
    let next = offered[0];
    if (next === undefined) return flown;
    for (const each of offered)
      if (here !== null && apart(here, each.way.start) < apart(here, next.way.start)) next = each;
    flown.push(...next.way.transects);
    here = next.way.end;
    left.delete(next.cell);
  }
  return flown;
}
