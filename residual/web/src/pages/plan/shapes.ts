import { CMD } from '../../../../../shared/mission/commands.ts';
import { square } from '../../../../../shared/mission/patterns/templates.ts';
import { type Shape, shapesOf } from '../../../../../shared/mission/shapes.ts';
import type { Place } from '../../map/projection.ts';
import { edited, type Item, type Items, inserted, newItem, removed } from './list.ts';

/** The figures of a fence, which stand in its list as their corners and centres. */

const CORNERS_MIN = 3;
// Heights of a fence's corners mean nothing.
const FENCE_FRAME = 0;
const RETURN_FRAME = 3;

export function shapeAt(items: Items, at: number): Shape | undefined {
  return shapesOf(items).find(({ from, count }) => at >= from && at < from + count);
}

/** @param size m, from the middle to the sides */
export function withShape(
  items: Items,
  kind: Shape['kind'],
  inside: boolean,
  middle: Place,
  size: number,
): Items {
  const made = (command: number, { lat, lon }: Place, param1: number, frame = FENCE_FRAME): Item => ({
    ...newItem([], items.length, command, { lat, lon }),
    frame,
    param1,
    z: 0,
  });
  if (kind === 'return') return inserted(items, items.length, made(CMD.returnPoint, middle, 0, RETURN_FRAME));
  if (kind === 'circle') {
    const command = inside ? CMD.circleInclusion : CMD.circleExclusion;
    return inserted(items, items.length, made(command, middle, Math.max(1, Math.round(size))));
  }
  return withPolygon(items, inside, square(middle, 2 * size));
}

/** A polygon with these corners behind the others. */
export function withPolygon(items: Items, inside: boolean, corners: readonly Place[]): Items {
  const command = inside ? CMD.polygonInclusion : CMD.polygonExclusion;
  const made = corners.map(
    (corner): Item => ({
      ...newItem([], items.length, command, corner),
      frame: FENCE_FRAME,
      param1: corners.length,
      z: 0,
    }),
  );
  return inserted(items, items.length, ...made);
}

/** @param at where in the list the corner stands then */
export function withCorner(items: Items, shape: Shape, at: number, place: Place): Items {
  const first = items[shape.from];
  if (first === undefined) return items;
  const corner = { ...newItem([], at, first.command, place), frame: first.frame, z: first.z };
  return counted(inserted(items, at, corner), { ...shape, count: shape.count + 1 });
}

/** Without its third corner it is no polygon, and goes as a whole. */
export function withoutCorner(items: Items, at: number): Items {
  const shape = shapeAt(items, at);
  if (shape === undefined) return items;
  if (shape.count <= CORNERS_MIN) return removed(items, shape.from, shape.count);
  return counted(removed(items, at), { ...shape, count: shape.count - 1 });
}

export function turned(items: Items, { kind, inside, from, count }: Shape): Items {
  const command =
    kind === 'polygon'
      ? inside
        ? CMD.polygonExclusion
        : CMD.polygonInclusion
      : inside
        ? CMD.circleExclusion
        : CMD.circleInclusion;
  let result = items;
  for (let at = from; at < from + count; at++) result = edited(result, at, { command });
  return result;
}

function counted(items: Items, { from, count }: Shape): Items {
  let result = items;
  for (let at = from; at < from + count; at++) result = edited(result, at, { param1: count });
  return result;
}
