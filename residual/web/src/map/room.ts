import type { Place, Projection } from './projection.ts';

/** px between the middles of two marks that do not touch. */
const APART_PX = 30;

/**
 * Which of these places have room for a mark with its number on the map of now; the others are drawn as points. As one zooms in, more have.
 * @param places those that matter most first
 */
export function withRoom(projection: Projection, places: readonly Place[]): ReadonlySet<Place> {
  const taken = new Map<string, { readonly x: number; readonly y: number }[]>();
  const free = (place: Place): boolean => {
    const { x, y } = projection.toScreen(place);
    const [column, row] = [Math.floor(x / APART_PX), Math.floor(y / APART_PX)];
    for (let across = -1; across <= 1; across++)
      for (let down = -1; down <= 1; down++)
        for (const other of taken.get(`${column + across} ${row + down}`) ?? [])
          if (Math.hypot(other.x - x, other.y - y) < APART_PX) return false;
    const cell = `${column} ${row}`;
    taken.set(cell, [...(taken.get(cell) ?? []), { x, y }]);
    return true;
  };
  return new Set(places.filter(free));
}
