import { expect } from 'chai';
import fc from 'fast-check';
import { rangeOf } from '../../front/control/native/flight-logs.ts';
import { LogWindow } from '../../front/link/logs/log-window.ts';

describe('parts of a log', () => {
  it('a window takes blocks in any order, twice and from elsewhere, and asks for exactly what is missing', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 9000 }),
        fc.array(fc.nat(120), { maxLength: 300 }),
        fc.nat(),
        (start, length, order, noise) => {
          const source = Buffer.from(Array.from({ length }, (_, i) => (i * 31 + start) & 0xff));
          const window = new LogWindow(start, start + length);
          const send = (offset: number): void => {
            const data = source.subarray(offset - start, offset - start + 90);
            window.add({ offset, data });
          };
          const blocks = Math.ceil(length / 90);
          for (const block of order) if (block < blocks) send(start + block * 90);
          window.add({ offset: start + 1 + (noise % 89), data: Buffer.alloc(90, 1) }); // no block of ours
          window.add({ offset: start, data: Buffer.alloc(Math.min(length, 90) - 1) }); // too short
          for (let turn = 0; turn <= blocks; turn++) {
            const gap = window.gap();
            if (gap === null) break;
            expect(gap.start).to.be.within(start, start + length - 1);
            expect(gap.end).to.be.within(gap.start + 1, start + length);
            for (let at = gap.start; at < gap.end; at += 90) send(at);
          }
          expect(window.complete).to.equal(true);
          expect(window.bytes.equals(source)).to.equal(true);
        },
      ),
    );
  });

  it('a Range header: one range is served, nonsense is ignored, what lies beyond is refused', () => {
    const of = (range: string | undefined): unknown => {
      try {
        const { start, end, ranged } = rangeOf(range === undefined ? {} : { range }, 1000);
        return ranged ? [start, end] : 'whole';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    for (const [range, wanted] of [
      [undefined, 'whole'],
      ['bytes=0-', [0, 1000]],
      ['bytes=10-19', [10, 20]],
      ['bytes=990-5000', [990, 1000]],
      ['bytes=-100', [900, 1000]],
      ['bytes=-5000', [0, 1000]],
      ['bytes=-0', 'E_RANGE_NOT_SATISFIABLE'],
      ['bytes=1000-', 'E_RANGE_NOT_SATISFIABLE'],
      ['bytes=20-10', 'whole'],
      ['bytes=0-1,5-6', 'whole'],
      ['items=0-1', 'whole'],
      ['bytes=-', 'whole'],
    ] as const)
      expect(of(range), range ?? 'none').to.deep.equal(wanted);
    expect(rangeOf({ range: 'bytes=1-2', 'if-range': '"x"' }, 1000)).to.include({ ranged: false });
  });
});
