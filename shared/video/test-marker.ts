import type { BBox } from '../schemas/vision.ts';

/** From the left edge to the right one and back. */
const ROUND_MS = 16_000;

/**
 * Where the white bar of the test picture is: it goes to and fro in the lower half, at the speed of the burnt-in clock, so that
 * whoever looks for it can be told how far off it is.
 * @param timeMs the burnt-in time, Unix ms @param width @param height of the picture, pixels
 * @returns whole pixels, all even: the colour planes have half the size
 */
export function markerBox(timeMs: number, width: number, height: number): BBox {
  const size = { width: even(Math.max(4, width / 32)), height: even(height / 4) };
  const part = (timeMs % ROUND_MS) / (ROUND_MS / 2);
  const x = even((width - size.width) * (part < 1 ? part : 2 - part));
  return { x, y: even(height / 2), ...size };
}

function even(value: number): number {
  return 2 * Math.floor(value / 2);
}
