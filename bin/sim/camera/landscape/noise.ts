import type { Random } from '../../../../shared/random.ts';

/** Side of the tile, a power of two. */
export const NOISE_SIDE = 256;

/** A tile of smooth noise that repeats without a seam, -127 to 127. @param octaves of ever smaller spots, from `first` spots a side on */
export function noiseTile(random: Random, first: number, octaves: number): Int8Array {
  const sum = new Float32Array(NOISE_SIDE * NOISE_SIDE);
  let most = 0;
  for (let octave = 0; octave < octaves; octave++) {
    const spots = first << octave;
    const knots = Float32Array.from({ length: spots * spots }, () => random() * 2 - 1);
    const step = NOISE_SIDE / spots;
    for (let y = 0; y < NOISE_SIDE; y++) {
      const row = Math.floor(y / step);
      const down = smooth(y / step - row);
      for (let x = 0; x < NOISE_SIDE; x++) {
        const column = Math.floor(x / step);
        const across = smooth(x / step - column);
        const knot = (i: number, j: number): number => knots[(j % spots) * spots + (i % spots)] ?? 0;
        const upper = knot(column, row) * (1 - across) + knot(column + 1, row) * across;
        const lower = knot(column, row + 1) * (1 - across) + knot(column + 1, row + 1) * across;
        const at = y * NOISE_SIDE + x;
        const value = (sum[at] ?? 0) + (upper * (1 - down) + lower * down) * 0.55 ** octave;
        sum[at] = value;
        most = Math.max(most, Math.abs(value));
      }
    }
  }
  return Int8Array.from(sum, (value) => Math.round((value / most) * 127));
}

const smooth = (share: number): number => share * share * (3 - 2 * share);
