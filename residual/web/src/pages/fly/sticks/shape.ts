/** How the sticks of a gamepad become what MANUAL_CONTROL carries. */

/** What a stick can do; `height` is up and down. */
export const FUNCTIONS = ['forward', 'right', 'height', 'turn'] as const;
export type StickFunction = (typeof FUNCTIONS)[number];

export interface Axis {
  /** Of the gamepad, from 0. */
  readonly index: number;
  readonly inverted: boolean;
}

export interface StickSettings {
  readonly axes: Readonly<Record<StickFunction, Axis>>;
  /** Share of the way around the middle that counts as the middle, 0 to 0.3. */
  readonly dead: number;
  /** 0: straight; 1: fine around the middle. */
  readonly expo: number;
  /** What the buttons do, by their number: a command or a mode; those that are not there do nothing. */
  readonly buttons: Readonly<Record<number, string>>;
}

/**
 * The four modes of transmitters, on the standard gamepad (https://w3c.github.io/gamepad/#remapping): axes 0 and 1 are the left
 * stick, 2 and 3 the right one, down and right positive.
 */
const [LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y] = [0, 1, 2, 3] as const;
export const MODES: Readonly<Record<1 | 2 | 3 | 4, StickSettings['axes']>> = {
  1: axesOf(LEFT_Y, RIGHT_X, RIGHT_Y, LEFT_X),
  2: axesOf(RIGHT_Y, RIGHT_X, LEFT_Y, LEFT_X),
  3: axesOf(LEFT_Y, LEFT_X, RIGHT_Y, RIGHT_X),
  4: axesOf(RIGHT_Y, LEFT_X, LEFT_Y, RIGHT_X),
};

/** @param value -1 to 1; anything else is the middle @returns -1 to 1 */
export function shaped(value: number, { dead, expo }: Pick<StickSettings, 'dead' | 'expo'>): number {
  if (!Number.isFinite(value)) return 0;
  const size = Math.min(1, Math.abs(value));
  if (size <= dead) return 0;
  const past = (size - dead) / (1 - dead);
  return Math.sign(value) * ((1 - expo) * past + expo * past ** 3);
}

/** @param axes of the gamepad @returns each function, -1 to 1 */
export function read(axes: readonly number[], set: StickSettings): Record<StickFunction, number> {
  const one = (name: StickFunction): number => {
    const { index, inverted } = set.axes[name];
    const value = shaped(axes[index] ?? 0, set);
    return inverted ? 0 - value : value;
  };
  return { forward: one('forward'), right: one('right'), height: one('height'), turn: one('turn') };
}

function axesOf(forward: number, right: number, height: number, turn: number): StickSettings['axes'] {
  return {
    // A gamepad counts downwards.
    forward: { index: forward, inverted: true },
    right: { index: right, inverted: false },
    height: { index: height, inverted: true },
    turn: { index: turn, inverted: false },
  };
}
