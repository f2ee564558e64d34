import { HAZE, yuv } from './colours.ts';

/** How colours fade with the distance: tables for steps of it. */

export const STEPS = 64;
/** The first step ends there, m; each further one is a seventh of an octave. */
const FIRST_M = 16;
const AN_OCTAVE = 7;
/** Over so many metres two thirds of a colour go. */
const FADES_M = 2300;
/** Something of it is left. */
const MOST = 0.94;

/** @returns 0 to STEPS - 1 */
export function stepOf(metres: number): number {
  const step = AN_OCTAVE * Math.log2(metres / FIRST_M);
  return step > 0 ? Math.min(STEPS - 1, step | 0) : 0;
}

/** Tables with the faded value at step * 256 + value, for Y, U and V. */
export interface HazeTables {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
}

export function hazeTables(): HazeTables {
  const [y, u, v] = yuv(HAZE);
  const table = (far: number): Uint8Array =>
    Uint8Array.from({ length: STEPS * 256 }, (_, at) => {
      const metres = FIRST_M * 2 ** ((at >> 8) / AN_OCTAVE);
      const share = at < 256 ? 0 : MOST * (1 - Math.exp(-metres / FADES_M));
      return Math.round((at & 255) + (far - (at & 255)) * share);
    });
  return { y: table(y), u: table(u), v: table(v) };
}
