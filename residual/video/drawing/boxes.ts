import type { Frame } from 'node-av/lib';
import type { SnapshotBox } from '../../../shared/rpc/video.ts';
import { labelSize, Plane } from './plane.ts';

/** Green in full range, as Y, U, V (ITU-R BT.601). */
const GREEN = [150, 44, 21] as const;
const TEXT = { ink: 255, paper: 0 } as const;
const GREY = 128;

/** Draws rectangles with a word each. @param frame planar YUV 4:2:0 in full range that nobody else uses */
export function drawBoxes(frame: Frame, boxes: readonly SnapshotBox[]): void {
  const { width, height } = frame;
  const planes = (frame.data ?? []).slice(0, 3).map((bytes, index) => {
    const shift = index === 0 ? 0 : 1;
    return new Plane(bytes, (width + shift) >> shift, (height + shift) >> shift, frame.linesize[index] ?? 0);
  });
  // Even, as the colours have half as many pixels.
  const line = 2 * Math.max(1, Math.round(width / 800));
  const scale = Math.max(1, Math.round(width / 640));
  const fill = (x: number, y: number, across: number, down: number, colour: readonly number[]): void => {
    for (const [index, plane] of planes.entries()) {
      const shift = index === 0 ? 0 : 1;
      plane.fill(x >> shift, y >> shift, across >> shift, down >> shift, colour[index] ?? GREY);
    }
  };
  for (const box of boxes) {
    const [x, y, across, down] = [box.x, box.y, box.width, box.height].map(
      (side) => 2 * Math.round(side / 2),
    );
    if (x === undefined || y === undefined || across === undefined || down === undefined) continue;
    if (box.text !== '') {
      const size = labelSize(box.text, scale);
      // Above the box; inside of it at the upper edge of the picture.
      const top = y >= size.height ? y - size.height : y + line;
      const left = Math.max(0, Math.min(x, width - size.width));
      fill(left & ~1, top & ~1, size.width + 2, size.height + 2, [TEXT.paper, GREY, GREY]);
      planes[0]?.label(box.text, left, top, scale, TEXT);
    }
    fill(x, y, across, line, GREEN);
    fill(x, y + down - line, across, line, GREEN);
    fill(x, y, line, down, GREEN);
    fill(x + across - line, y, line, down, GREEN);
  }
}
