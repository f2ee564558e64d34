/** What vehicles look like from above, nose up, in a square of 40 by 40 around the middle. */

export type Craft = 'copter' | 'helicopter' | 'plane' | 'rover' | 'boat' | 'submarine' | 'other';

/** By MAV_TYPE (common.xml, minimal.xml). */
const CRAFT: Readonly<Record<number, Craft>> = {
  1: 'plane',
  2: 'copter',
  3: 'copter',
  4: 'helicopter',
  10: 'rover',
  11: 'boat',
  12: 'submarine',
  13: 'copter',
  14: 'copter',
  15: 'copter',
  16: 'plane',
  17: 'plane',
  19: 'plane',
  20: 'plane',
  21: 'plane',
  22: 'plane',
  23: 'plane',
  24: 'plane',
  25: 'plane',
  28: 'plane',
  29: 'copter',
  35: 'copter',
};

/** @param type MAV_TYPE; null: not known */
export function craftOf(type: number | null | undefined): Craft {
  return CRAFT[type ?? -1] ?? 'other';
}

const rotor = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;

/** Path data; the first is filled as the body, the others lie over it. */
export const SHAPES: Readonly<Record<Craft, readonly string[]>> = {
  copter: [
    `${[
      [-10, -9],
      [10, -9],
      [-10, 10],
      [10, 10],
    ]
      .map(([x = 0, y = 0]) => rotor(x, y, 6.5))
      .join('')}M-3 -6L0 -17L3 -6L10 -9L5 1L10 10L0 5L-10 10L-5 1L-10 -9Z`,
    'M0 -15L3.5 -5H-3.5Z',
  ],
  helicopter: ['M0 -15C5 -12 5 0 2 5L1.5 14H5V17H-5V14H-1.5L-2 5C-5 0 -5 -12 0 -15Z', rotor(0, -4, 12)],
  plane: [
    'M0 -18C2 -18 3 -14 3 -10V-5L19 3V7L3 3V10L8 15V18L0 15L-8 18V15L-3 10V3L-19 7V3L-3 -5V-10C-3 -14 -2 -18 0 -18Z',
  ],
  rover: [
    'M-8 -12L0 -18L8 -12V13H-8ZM-12 -10H-9V-3H-12ZM9 -10H12V-3H9ZM-12 4H-9V11H-12ZM9 4H12V11H9Z',
    'M-4 -10L0 -14L4 -10Z',
  ],
  boat: ['M0 -18C6 -11 8 -4 8 4V15H-8V4C-8 -4 -6 -11 0 -18Z', 'M-4 1H4V9H-4Z'],
  submarine: [
    'M0 -18C5 -15 6 -8 6 0C6 8 4 13 1.5 15V18H-1.5V15C-4 13 -6 8 -6 0C-6 -8 -5 -15 0 -18Z',
    'M-2 -4H2V4H-2Z',
  ],
  other: ['M0 -17L12 13L0 7L-12 13Z'],
};
