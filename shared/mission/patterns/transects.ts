import type { Flat } from './plane.ts';

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

/**
 * The cells one after the other: the first from its corner `entry`, each other from what lies nearest. A sliver may have as many cells as
 * lines, so each way is made once.
 */
export function waysThrough(
  cells: readonly Cell[],
  entry: number,
  alternate: boolean,
  from: Flat | null,
): readonly Transect[] {
  const all = cells.map((cell) =>
    [0, 1, 2, 3].flatMap((corner) => wayThrough(cell, corner, alternate) ?? []),
  );
  const left = new Set(all);
  const flown: Transect[] = [];
  let here = from;
  while (left.size > 0) {
    const first = (entry & 1) === 0 ? all[0] : all.at(-1);
    const next = here === null ? wayFrom(first, entry) : nearest(left, here);
    if (next === null) return flown;
    flown.push(...next.way.transects);
    here = next.way.end;
    left.delete(next.ways);
  }
  return flown;
}

interface Next {
  /** Of one cell, from each of its corners. */
  readonly ways: Way[];
  readonly way: Way;
}

function wayFrom(ways: Way[] | undefined, corner: number): Next | null {
  const way = ways?.[corner];
  return ways === undefined || way === undefined ? null : { ways, way };
}

function nearest(left: ReadonlySet<Way[]>, { x, y }: Flat): Next | null {
  let best: (Next & { readonly square: number }) | null = null;
  for (const ways of left)
    for (const way of ways) {
      const [east, north] = [way.start.x - x, way.start.y - y];
      const square = east * east + north * north;
      if (best === null || square < best.square) best = { ways, way, square };
    }
  return best;
}
