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

const rotor = (x: number, y: number, r = 7): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;

/** Path data: the body, and what lies under it, pale. */
export const SHAPES: Readonly<Record<Craft, { readonly body: string; readonly under?: string }>> = {
  copter: {
    body: 'M0 -15L8.5 10L0 5.5L-8.5 10Z',
    under: [rotor(-12, -11), rotor(12, -11), rotor(-12, 12), rotor(12, 12)].join(''),
  },
  helicopter: {
    body: 'M0 -15C5 -12 5 0 2 5L1.5 14H5V17H-5V14H-1.5L-2 5C-5 0 -5 -12 0 -15Z',
    under: rotor(0, -3, 14),
  },
  plane: {
    body: 'M0 -18C2 -18 3 -14 3 -10V-5L19 3V7L3 3V10L8 15V18L0 15L-8 18V15L-3 10V3L-19 7V3L-3 -5V-10C-3 -14 -2 -18 0 -18Z',
  },
  rover: {
    body: 'M0 -18L8 -11V14H-8V-11Z',
    under: 'M-13 -10H13V-2H-13ZM-13 4H13V12H-13Z',
  },
  boat: { body: 'M0 -18C6 -11 8 -4 8 4V15H-8V4C-8 -4 -6 -11 0 -18Z' },
  submarine: { body: 'M0 -18C5 -15 6 -8 6 0C6 8 4 13 1.5 15V18H-1.5V15C-4 13 -6 8 -6 0C-6 -8 -5 -15 0 -18Z' },
  other: { body: 'M0 -17L12 13L0 7L-12 13Z' },
};
