import type { MissionItem } from '../schemas/mission-item.ts';
import { CMD } from './commands.ts';

/** One figure of a fence, whose corners or centre stand in its list. */
export interface Shape {
  readonly kind: 'polygon' | 'circle' | 'return';
  /** The vehicle stays inside; otherwise outside. */
  readonly inside: boolean;
  /** Its first item. */
  readonly from: number;
  readonly count: number;
}

const POLYGONS: readonly number[] = [CMD.polygonInclusion, CMD.polygonExclusion];
const CIRCLES: readonly number[] = [CMD.circleInclusion, CMD.circleExclusion];

/** The figures of a fence, in their order. What is none (ArduPilot's return point aside) is left out. */
export function shapesOf(items: readonly Pick<MissionItem, 'command' | 'param1'>[]): readonly Shape[] {
  const shapes: Shape[] = [];
  for (let from = 0; from < items.length; ) {
    const item = items[from];
    if (item === undefined) break;
    const { command, param1 } = item;
    const isPolygon = POLYGONS.includes(command);
    const count = isPolygon ? Math.max(1, Math.min(param1 ?? 1, items.length - from)) : 1;
    const inside = command === CMD.polygonInclusion || command === CMD.circleInclusion;
    if (isPolygon) shapes.push({ kind: 'polygon', inside, from, count });
    else if (CIRCLES.includes(command)) shapes.push({ kind: 'circle', inside, from, count });
    else if (command === CMD.returnPoint) shapes.push({ kind: 'return', inside, from, count });
    from += count;
  }
  return shapes;
}
