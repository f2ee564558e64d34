import { expect } from 'chai';
import { instant, type VideoClock } from '../../shared/media/picture.ts';

/** Stands still for so many ms after each reading of the wall clock. */
function pausing(pauses: number[]): VideoClock {
  let now = 1_000_000;
  return {
    wall: () => {
      const seen = now;
      now += pauses.shift() ?? 0;
      return seen;
    },
    micros: () => now * 1000,
  };
}

describe('the clocks of a picture', () => {
  it('are of one instant, whatever pauses come between their readings', () => {
    const { capturedAt, at } = instant(pausing([40, 3, 1]));
    expect(at / 1000 - capturedAt).to.be.below(1);
  });

  it('are read all the same where a pause always comes', () => {
    expect(instant(pausing(Array.from({ length: 100 }, () => 5)))).to.have.keys('capturedAt', 'at');
  });
});
