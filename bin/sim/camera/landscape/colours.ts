/** Colours of the landscape, red, green, blue, 0 to 255, as on a clear afternoon. */
export type Rgb = readonly [r: number, g: number, b: number];

export const CROP_COLOURS = {
  wheat: [201, 176, 98],
  rape: [214, 199, 66],
  pasture: [116, 152, 74],
  barley: [178, 180, 104],
  ploughed: [134, 106, 78],
  hay: [160, 170, 92],
  maize: [84, 128, 58],
  clover: [100, 146, 76],
} as const satisfies Readonly<Record<string, Rgb>>;

export const GROUND = {
  grass: [124, 146, 84],
  lawn: [112, 158, 72],
  mown: [124, 170, 80],
  wood: [52, 82, 44],
  water: [84, 122, 146],
  shore: [122, 124, 86],
  gravel: [178, 170, 152],
  asphalt: [128, 128, 130],
  paint: [226, 226, 218],
  track: [172, 156, 124],
  concrete: [150, 152, 152],
  mark: [244, 206, 60],
  letter: [246, 246, 242],
} as const satisfies Readonly<Record<string, Rgb>>;

export const LEAVES = {
  broad: [72, 112, 50],
  conifer: [42, 80, 52],
  bush: [92, 124, 62],
  trunk: [86, 70, 54],
} as const satisfies Readonly<Record<string, Rgb>>;

export const BUILT = {
  roofs: [
    [168, 82, 58],
    [150, 70, 54],
    [124, 74, 62],
    [104, 100, 100],
  ],
  walls: [
    [236, 228, 210],
    [224, 210, 184],
    [240, 238, 232],
    [206, 178, 146],
  ],
  barn: [140, 66, 52],
  barnRoof: [112, 110, 112],
  stone: [200, 192, 176],
  slate: [84, 88, 98],
  window: [62, 78, 94],
  door: [96, 62, 44],
  chimney: [136, 78, 62],
} as const;

export const SKY = { zenith: [82, 136, 202], horizon: [206, 220, 230], cloud: [250, 250, 250] } as const;
/** What is far away takes this colour. */
export const HAZE: Rgb = [198, 212, 222];

/** Y, U, V of a colour in limited range (ITU-R BT.601), as the picture has them. */
export function yuv([r, g, b]: Rgb): readonly [y: number, u: number, v: number] {
  return [
    Math.round(16 + 0.257 * r + 0.504 * g + 0.098 * b),
    Math.round(128 - 0.148 * r - 0.291 * g + 0.439 * b),
    Math.round(128 + 0.439 * r - 0.368 * g - 0.071 * b),
  ];
}

/** @param share 0: `one`, 1: `other` */
export function mixed(one: Rgb, other: Rgb, share: number): Rgb {
  const at = (part: 0 | 1 | 2): number => one[part] + (other[part] - one[part]) * share;
  return [at(0), at(1), at(2)];
}

export function shaded([r, g, b]: Rgb, light: number): Rgb {
  return [Math.min(255, r * light), Math.min(255, g * light), Math.min(255, b * light)];
}

/** Of several colours one, by a number from 0 to 1. */
export function oneOf(colours: readonly Rgb[], share: number): Rgb {
  return colours[Math.min(colours.length - 1, Math.floor(share * colours.length))] ?? [0, 0, 0];
}

/** Where the sun's light goes to: east, north, up. */
export const LIGHT = { e: 0.58, n: 0.36, u: -0.73 } as const;
