import { CMD } from '../../../../../../shared/mission/commands.ts';
import { expand } from '../../../../../../shared/mission/patterns/expand.ts';
import { newPattern } from '../../../../../../shared/mission/patterns/new-pattern.ts';
import type { LatLon } from '../../../../../../shared/mission/patterns/plane.ts';
import { settled } from '../../../../../../shared/mission/patterns/settings.ts';
import { addPattern, placeToAdd } from '../entries.ts';
import { type Items, inserted, newItem } from '../list.ts';
import { planWords } from '../plan-words.ts';
import { withPolygon } from '../shapes.ts';
import type { Sketch } from '../sketch.ts';
import type { FoundShape, FoundShapes } from './shapes-in.ts';

/** What shapes of a file become in the plan. */

export const USES = {
  polygon: ['survey', 'structure', 'inside', 'outside', 'skip'],
  line: ['corridor', 'waypoints', 'skip'],
  point: ['waypoints', 'rally', 'skip'],
} as const;
export type Use = (typeof USES)[keyof typeof USES][number];

/** One shape, or all points at once. */
export interface Wish {
  readonly kind: FoundShape['kind'];
  /** Of the file, where it has one. */
  readonly label: string;
  readonly shapes: readonly FoundShape[];
  readonly use: Use;
}

const ASKED = 40;

/** Lines and polygons one by one, the points together. More than a person would go through are left out at first. */
export function wishesOf({ shapes }: FoundShapes): readonly Wish[] {
  const points = shapes.filter(({ kind }) => kind === 'point');
  const others = shapes.filter(({ kind }) => kind !== 'point');
  return [
    ...others.slice(0, ASKED).map(
      (shape, at): Wish => ({
        kind: shape.kind,
        label: planWords.import.as({
          name: shape.name === '' ? planWords.import.unnamed({ n: at + 1 }) : shape.name,
        }),
        shapes: [shape],
        use: USES[shape.kind][0],
      }),
    ),
    ...(points.length === 0
      ? []
      : [
          {
            kind: 'point',
            label: planWords.import.points({ count: points.length }),
            shapes: points,
            use: 'waypoints',
          } as const,
        ]),
  ];
}

/** What it is, in words. */
export function drawnOf({ kind, shapes }: Wish): string {
  const count = shapes.reduce((sum, { places }) => sum + places.length, 0);
  return `${planWords.import.kinds[kind]}, ${planWords.import.corners({ count })}`;
}

/** Adds all of them, or none. @returns the labels of those of which nothing can be made */
export function addFound(sketch: Sketch, wishes: readonly Wish[]): readonly string[] {
  const failed = wishes.filter(({ use, shapes: [shape] }) => {
    const isPattern = use === 'survey' || use === 'structure' || use === 'corridor';
    return (
      isPattern && shape !== undefined && 'problem' in expand(settled(newPattern([], use, shape.places, 20)))
    );
  });
  if (failed.length > 0) return failed.map(({ label }) => label);
  for (const { use, shapes } of wishes) {
    if (use === 'waypoints') addPoints(sketch, 'mission', placesOf(shapes));
    else if (use === 'rally') addPoints(sketch, 'rally', placesOf(shapes));
    else if (use !== 'skip')
      for (const { places, holes } of shapes)
        if (use === 'inside' || use === 'outside') addFence(sketch, use === 'inside', places, holes);
        else addPattern(sketch, newPattern(sketch.patterns, use, places, 20));
  }
  return [];
}

function placesOf(shapes: readonly FoundShape[]): readonly LatLon[] {
  return shapes.flatMap(({ places }) => places);
}

function addFence(
  sketch: Sketch,
  inside: boolean,
  places: readonly LatLon[],
  holes: readonly (readonly LatLon[])[],
): void {
  let items: Items = withPolygon(sketch.lists.value.fence, inside, places);
  if (inside) for (const hole of holes) items = withPolygon(items, false, hole);
  sketch.change(items, 'fence');
  sketch.show('fence');
}

function addPoints(sketch: Sketch, part: 'mission' | 'rally', places: readonly LatLon[]): void {
  if (sketch.part.value !== part) sketch.show(part);
  let items = sketch.lists.value[part];
  const from = placeToAdd(sketch);
  const command = part === 'rally' ? CMD.rallyPoint : CMD.waypoint;
  for (const [at, place] of places.entries())
    items = inserted(items, from + at, newItem(items, from + at, command, place));
  sketch.change(items, part);
}
