import { setImmediate as breathe } from 'node:timers/promises';
import type { Landscape } from '../../../../shared/landscape/landscape.ts';
import { Canvas, SIDE } from './canvas.ts';
import { GroundPainter } from './paint-ground.ts';

/** From 1/32 m to 8 m to a texel, each twice as coarse as the one before. */
export const LEVELS = 9;
export const FINEST_M = 1 / 32;

/** The ground from above, at ever coarser levels, each a square around the pad with the same number of texels. */
export interface GroundLevels {
  /** Y of each texel, level after level, rows from south to north. */
  readonly luma: Uint8Array;
  /** U in the upper and V in the lower eight bits, at half the texels a side. */
  readonly chroma: Uint16Array;
}

/** The process answers others between two steps. */
const STEP_MS = 12;
/** A row and a texel more: what is drawn between texels reads the next ones. */
const BEYOND = SIDE + 2;

/** Paints all levels, in pieces. */
export async function paintLevels(land: Landscape, seed: number): Promise<GroundLevels> {
  const luma = new Uint8Array(SIDE * SIDE * LEVELS + BEYOND);
  const chroma = new Uint16Array((SIDE * SIDE * LEVELS) / 4);
  const canvas = new Canvas();
  const painter = new GroundPainter(land, seed);
  let began = performance.now();
  for (let level = 0; level < LEVELS; level++) {
    canvas.set(FINEST_M * 2 ** level);
    for (const _ of steps(painter, canvas, { luma, chroma }, level)) {
      if (performance.now() - began < STEP_MS) continue;
      await breathe();
      began = performance.now();
    }
  }
  return { luma, chroma };
}

function* steps(
  painter: GroundPainter,
  canvas: Canvas,
  { luma, chroma }: GroundLevels,
  level: number,
): Generator<undefined> {
  yield* painter.paint(canvas);
  const { rgb } = canvas;
  const half = SIDE / 2;
  for (let row = 0; row < half; row++) {
    for (let column = 0; column < half; column++) {
      let [r, g, b] = [0, 0, 0];
      for (let corner = 0; corner < 4; corner++) {
        const at = (2 * row + (corner >> 1)) * SIDE + 2 * column + (corner & 1);
        const red = rgb[3 * at] ?? 0;
        const green = rgb[3 * at + 1] ?? 0;
        const blue = rgb[3 * at + 2] ?? 0;
        luma[level * SIDE * SIDE + at] = 16 + 0.257 * red + 0.504 * green + 0.098 * blue + 0.5;
        r += red;
        g += green;
        b += blue;
      }
      const u = 128.5 + (-0.148 * r - 0.291 * g + 0.439 * b) / 4;
      const v = 128.5 + (0.439 * r - 0.368 * g - 0.071 * b) / 4;
      chroma[level * half * half + row * half + column] = (Math.floor(u) << 8) | Math.floor(v);
    }
    if (row % 48 === 0) yield;
  }
}
