import { expect } from 'chai';
import fc from 'fast-check';
import { FUNCTIONS, MODES, read, shaped } from '../../residual/web/src/pages/fly/sticks/shape.ts';

const share = fc.double({ min: 0, max: 0.3, noNaN: true });
const expo = fc.double({ min: 0, max: 1, noNaN: true });
const anything = fc.double();

describe('the shape of a stick', () => {
  it('stays within its way, whatever comes; keeps the side; and full is full', () => {
    fc.assert(
      fc.property(anything, share, expo, (value, dead, soft) => {
        const out = shaped(value, { dead, expo: soft });
        expect(Math.abs(out)).to.be.at.most(1);
        if (out !== 0) expect(Math.sign(out)).to.equal(Math.sign(value));
        expect(shaped(Math.sign(value) || 1, { dead, expo: soft })).to.be.closeTo(
          Math.sign(value) || 1,
          1e-9,
        );
      }),
    );
  });

  it('is nothing in the dead zone, begins at nothing behind it, and only rises', () => {
    fc.assert(
      fc.property(share, expo, (dead, soft) => {
        expect(shaped(dead, { dead, expo: soft })).to.equal(0);
        expect(shaped(dead + 1e-6, { dead, expo: soft })).to.be.closeTo(0, 1e-4);
        let before = 0;
        for (let at = 0; at <= 1; at += 0.05) {
          const now = shaped(at, { dead, expo: soft });
          expect(now).to.be.at.least(before);
          before = now;
        }
      }),
    );
  });

  it('each mode of a transmitter reads each of the four axes once; up and forward are pushed away', () => {
    for (const axes of Object.values(MODES)) {
      expect(FUNCTIONS.map((name) => axes[name].index)).to.have.members([0, 1, 2, 3]);
      const away = read([0, -1, 0, -1], { axes, dead: 0.1, expo: 0, buttons: {} });
      expect([away.forward, away.height]).to.deep.equal([1, 1]);
    }
    const left = read([0, -1, 0, 0], { axes: MODES[2], dead: 0, expo: 0, buttons: {} });
    expect(left).to.deep.equal({ forward: 0, right: 0, height: 1, turn: 0 });
  });

  it('an axis that a gamepad does not have is in its middle', () => {
    expect(read([], { axes: MODES[1], dead: 0, expo: 0, buttons: {} })).to.deep.equal({
      forward: 0,
      right: 0,
      height: 0,
      turn: 0,
    });
  });
});
