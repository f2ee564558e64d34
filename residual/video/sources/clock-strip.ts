/**
 * A clock that a program can read back from pixels: one row of 40 black or white cells at the top of the picture, each a
 * fortieth of the width wide. 4 cells of sync (1010), 32 bits of Unix time in ms modulo 2^32, most significant first, and
 * 4 bits of check (the exclusive or of the eight nibbles). It survives scaling and H.264 because a cell is 8 pixels wide even
 * in a picture of 320.
 */

export const STRIP_CELLS = 40;
const SYNC = 0b1010;

/** Height of the strip in a picture of that height, pixels. */
export function stripHeight(height: number): number {
  return Math.max(8, Math.round(height / 18));
}

/** @param timeMs Unix time, ms. @returns the cells from left to right, true for white */
export function stripCells(timeMs: number): readonly boolean[] {
  const value = (timeMs % 2 ** 32) >>> 0;
  const cells: boolean[] = [];
  const push = (bits: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) cells.push(((bits >>> bit) & 1) === 1);
  };
  push(SYNC, 4);
  push(value, 32);
  push(check(value), 4);
  return cells;
}

/**
 * @param isWhite whether the pixel at x, y is brighter than grey
 * @param nowMs any time within 24 days of the picture's, to complete the upper bits
 * @returns Unix time in ms, or null where there is no readable strip
 */
export function readStrip(
  isWhite: (x: number, y: number) => boolean,
  width: number,
  height: number,
  nowMs: number,
): number | null {
  const y = Math.floor(stripHeight(height) / 2);
  const bits = (from: number, count: number): number => {
    let value = 0;
    for (let cell = from; cell < from + count; cell++) {
      const x = Math.floor(((cell + 0.5) * width) / STRIP_CELLS);
      value = value * 2 + (isWhite(x, y) ? 1 : 0);
    }
    return value;
  };
  const value = bits(4, 32);
  if (bits(0, 4) !== SYNC || bits(36, 4) !== check(value)) return null;
  const span = 2 ** 32;
  return value + Math.round((nowMs - value) / span) * span;
}

function check(value: number): number {
  let sum = 0;
  for (let nibble = 0; nibble < 8; nibble++) sum ^= (value >>> (nibble * 4)) & 15;
  return sum;
}
