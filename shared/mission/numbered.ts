import type { MissionItem } from '../schemas/mission-item.ts';
import { CMD } from './commands.ts';

/** The same list with `first` as the number of its first item; what a DO_JUMP names stays the same item. */
export function numberedFrom(items: readonly MissionItem[], first: number): readonly MissionItem[] {
  const shift = first - (items[0]?.seq ?? first);
  if (shift === 0) return items;
  return items.map((item) => ({
    ...item,
    seq: item.seq + shift,
    param1: item.command === CMD.jump && item.param1 !== null ? item.param1 + shift : item.param1,
  }));
}
