import { expect } from 'chai';
import fc from 'fast-check';
import { minutesLeft } from '../../residual/web/src/pages/fly/battery-drain.ts';

describe('how long the battery lasts, by the drain that was seen', () => {
  it('at a steady drain says when it is empty', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 100 }),
        fc.integer({ min: 2, max: 18 }),
        fc.integer({ min: 15, max: 90 }),
        (from, steps, secondsEach) => {
          const drained = Array.from({ length: steps + 1 }, (_, at) => ({
            at: at * secondsEach * 1000,
            percent: from - at,
          }));
          const left = minutesLeft(drained);
          if (steps * secondsEach < 45) expect(left).to.equal(null);
          else expect(left).to.be.closeTo(((from - steps) * secondsEach) / 60, 1e-6);
        },
      ),
    );
  });

  it('says nothing of one that does not drain, or was seen too shortly', () => {
    for (const drained of [
      [],
      [{ at: 0, percent: 80 }],
      [0, 60_000, 120_000].map((at) => ({ at, percent: 80 })),
      [
        { at: 0, percent: 80 },
        { at: 10_000, percent: 70 },
      ],
    ])
      expect(minutesLeft(drained)).to.equal(null);
  });
});
