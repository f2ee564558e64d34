import { type Flat, turnedNorth } from './plane.ts';
import { crossings } from './polygon.ts';
import { type Transect, waysThrough } from './transects.ts';

/** More lines than items could be made of. */
export const MAX_LINES = 2500;

interface Open {
  readonly lines: Transect[];
  /** Of its newest line, from south to north. */
  readonly span: readonly [number, number];
}

/**
 * Parallel lines through a polygon, concave or not; none of its points lies further aside of one than half of the spacing.
 * @param heading of the lines, degrees @param from where the flight is before; null: not known
 * @returns null for more than `MAX_LINES`
 */
export function surveyLines(
  polygon: readonly Flat[],
  {
    heading,
    spacing,
    entry,
    alternate,
    from,
  }: { heading: number; spacing: number; entry: number; alternate: boolean; from: Flat | null },
): readonly Transect[] | null {
  const turned = polygon.map((corner) => turnedNorth(corner, heading));
  const west = Math.min(...turned.map(({ x }) => x));
  const width = Math.max(...turned.map(({ x }) => x)) - west;
  const count = Math.max(1, Math.ceil(width / spacing - 1e-9));
  if (count > MAX_LINES) return null;
  const first = west + (width - (count - 1) * spacing) / 2;
  const cells: Transect[][] = [];
  let open: readonly Open[] = [];
  let made = 0;
  for (let at = 0; at < count; at++) {
    const x = first + at * spacing;
    const spans = crossings(turned, x);
    made += spans.length;
    if (made > MAX_LINES) return null;
    const before = open;
    open = spans.map((span) => {
      const line = span.map((y) => turnedNorth({ x, y }, -heading));
      const touching = before.filter((cell) => overlap(cell.span, span));
      const [only] = touching;
      // Where the polygon forks or joins, new cells begin.
      const goesOn =
        only !== undefined &&
        touching.length === 1 &&
        spans.filter((each) => overlap(only.span, each)).length === 1;
      if (goesOn) {
        only.lines.push(line);
        return { lines: only.lines, span };
      }
      const lines = [line];
      cells.push(lines);
      return { lines, span };
    });
  }
  return waysThrough(cells, entry, alternate, from);
}

function overlap([a, b]: readonly [number, number], [c, d]: readonly [number, number]): boolean {
  return a < d && c < b;
}
