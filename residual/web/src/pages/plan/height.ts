import { number } from '../../parts/format.ts';
import { planWords } from './plan-words.ts';

/** What heights are counted from, in the same words wherever the plan speaks of one. */
export type Above = keyof typeof planWords.above;

/** By MAV_FRAME; undefined: the item's height means nothing. */
const ABOVE: Readonly<Record<number, Above>> = {
  0: 'sea',
  3: 'home',
  5: 'sea',
  6: 'home',
  10: 'ground',
  11: 'ground',
};

/** `20 m above ground`. @param above or the frame of an item */
export function heightText(metres: number | null, above: Above | number, digits = 0): string {
  const word = typeof above === 'number' ? ABOVE[above] : above;
  return `${number(metres, digits)} m${word === undefined ? '' : ` ${planWords.above[word]}`}`;
}
