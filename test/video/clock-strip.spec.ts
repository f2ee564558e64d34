import { expect } from 'chai';
import fc from 'fast-check';
import { readStrip, stripCells } from '../../residual/video/sources/clock-strip.ts';
import { TestPicture } from '../../residual/video/sources/test-picture.ts';

const DAY_MS = 86_400_000;

describe('the clock in the test picture', () => {
  it('is read back from pixels, whatever the time and the size', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4e12 }),
        fc.constantFrom([1280, 720], [640, 480], [320, 180], [1920, 1080]),
        fc.integer({ min: -20 * DAY_MS, max: 20 * DAY_MS }),
        (time, [width = 0, height = 0], off) => {
          const y = Buffer.alloc(width * height);
          const planes = {
            y,
            u: Buffer.alloc((width * height) / 4),
            v: Buffer.alloc((width * height) / 4),
            strides: [width, width / 2, width / 2] as const,
          };
          new TestPicture(width, height).draw(planes, time, 12);
          const white = (x: number, row: number): boolean => (y[row * width + x] ?? 0) > 128;
          expect(readStrip(white, width, height, time + off)).to.equal(time);
        },
      ),
      { seed: 4, numRuns: 60 },
    );
  });

  it('one wrong cell is noticed', () => {
    const cells = stripCells(1_763_690_400_123);
    for (let wrong = 0; wrong < cells.length; wrong++) {
      const white = (x: number): boolean => {
        const cell = Math.floor(x / 8);
        return (cells[cell] ?? false) !== (cell === wrong);
      };
      expect(readStrip(white, 320, 180, 1_763_690_400_000), String(wrong)).to.equal(null);
    }
  });
});
