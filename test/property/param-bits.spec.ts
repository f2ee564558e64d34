import { expect } from 'chai';
import fc from 'fast-check';
import { hasBit, withBit } from '../../residual/web/src/vehicle/param-bits.ts';

/** By MAV_PARAM_TYPE: INT8, INT16, INT32. */
const SIGNED = [
  [2, 8],
  [4, 16],
  [6, 32],
] as const;
describe('the bits of a parameter (properties)', () => {
  for (const [type, width] of SIGNED)
    it(`of ${width} bits with a sign are those of its two's complement, and come back as its type holds them`, () => {
      const most = 2 ** (width - 1);
      fc.assert(
        fc.property(
          fc.integer({ min: -most, max: most - 1 }),
          fc.nat(width - 1),
          fc.boolean(),
          (value, bit, isSet) => {
            expect(hasBit(value, bit, type)).to.equal(((BigInt(value) >> BigInt(bit)) & 1n) === 1n);
            const mask = 1n << BigInt(bit);
            const wanted = BigInt.asIntN(width, isSet ? BigInt(value) | mask : BigInt(value) & ~mask);
            expect(withBit(value, bit, isSet, type)).to.equal(Number(wanted));
          },
        ),
      );
    });

  it('of one without a sign, or of a float, go beyond 31', () => {
    expect(withBit(0, 31, true, 5)).to.equal(2 ** 31);
    expect(withBit(2 ** 31, 31, false, 9)).to.equal(0);
    expect(hasBit(2 ** 40, 40, 7)).to.equal(true);
  });
});
