import { expect } from 'chai';
import fc from 'fast-check';
import { channelOf, frequencyOf } from '../../shared/wifi-channel.ts';

describe('Wi-Fi channels and their frequencies', () => {
  it('are each other’s, and a frequency between two channels is none', () => {
    for (const [channel, mhz] of [
      [1, 2412],
      [13, 2472],
      [14, 2484],
      [36, 5180],
      [165, 5825],
    ] as const) {
      expect(frequencyOf(channel)).to.equal(mhz);
      expect(channelOf(mhz)).to.equal(channel);
    }
    const channel = fc.integer({ min: 1, max: 196 });
    fc.assert(fc.property(channel, (number) => channelOf(frequencyOf(number)) === number));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7000 }), (mhz) => {
        const found = channelOf(mhz);
        return found === null || (found > 0 && frequencyOf(found) === mhz);
      }),
    );
    for (const none of [0, 2407, 2477, 2483, 5000, 5181, -1, Number.NaN])
      expect(channelOf(none)).to.equal(null);
  });
});
