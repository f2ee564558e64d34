import { distanceTo, type Point } from './polygon.ts';

/** Nothing may stand within so many metres of this line. */
interface Obstacle {
  readonly line: readonly Point[];
  readonly metres: number;
}

const CELL_M = 150;
/** The most that is asked for beyond an obstacle's own metres. */
const ROOM_M = 10;

/** Obstacles by squares of the land, so that each question is about a few of them. */
export class Obstacles {
  readonly #cells = new Map<number, Obstacle[]>();

  constructor(obstacles: readonly Obstacle[]) {
    for (const obstacle of obstacles) this.#enter(obstacle);
  }

  /** Whether a point is further than `metres`, at most 10, from all of them. */
  isFree(point: Point, metres: number): boolean {
    const near = this.#cells.get(keyOf(cellOf(point[0]), cellOf(point[1])));
    if (near === undefined) return true;
    for (const { line, metres: own } of near) if (distanceTo(line, point) <= own + metres) return false;
    return true;
  }

  #enter(obstacle: Obstacle): void {
    const room = obstacle.metres + ROOM_M;
    for (let at = 0; at + 1 < obstacle.line.length; at++) {
      const piece = [obstacle.line[at] ?? [0, 0], obstacle.line[at + 1] ?? [0, 0]] as const;
      const [[e0, n0], [e1, n1]] = piece;
      for (let row = cellOf(Math.min(n0, n1) - room); row <= cellOf(Math.max(n0, n1) + room); row++)
        for (
          let column = cellOf(Math.min(e0, e1) - room);
          column <= cellOf(Math.max(e0, e1) + room);
          column++
        ) {
          const middle: Point = [(column + 0.5) * CELL_M, (row + 0.5) * CELL_M];
          if (distanceTo(piece, middle) > room + CELL_M * 0.71) continue;
          const key = keyOf(column, row);
          const cell = this.#cells.get(key);
          if (cell === undefined) this.#cells.set(key, [{ line: piece, metres: obstacle.metres }]);
          else cell.push({ line: piece, metres: obstacle.metres });
        }
    }
  }
}

const cellOf = (metres: number): number => Math.floor(metres / CELL_M);
const keyOf = (column: number, row: number): number => column * 1000 + row;
