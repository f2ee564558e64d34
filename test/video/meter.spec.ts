import { expect } from 'chai';
import { Meter } from '../../residual/video/engine/meter.ts';

const BYTES = 1000;

/** What is measured at `now` of frames at these times, all in ms. */
function measured(times: readonly number[], now: number): ReturnType<Meter['read']> {
  const meter = new Meter();
  for (const at of times) meter.add(at * 1000, BYTES);
  return meter.read(now * 1000);
}

describe('the rate of pictures', () => {
  const steady = Array.from({ length: 121 }, (_, index) => index * 25);

  it('of regular ones is exact, at any moment between two of them', () => {
    for (const now of [3000, 3010, 3024]) expect(measured(steady, now)).to.deep.equal({ fps: 40, kbps: 320 });
  });

  it('is known as soon as there are two', () => {
    expect(measured([0], 10)).to.equal(null);
    expect(measured([0, 25], 30)).to.deep.equal({ fps: 40, kbps: 320 });
  });

  it('of bursts over a bad radio is that of the whole time, not of a burst', () => {
    const bursts = [0, 1000, 2000, 3000].flatMap((at) => [at, at + 10, at + 20]);
    expect(measured([...bursts, 3990, 4000], 4005)?.fps).to.be.within(2.5, 4.5);
    expect(measured([0, 3000, 3005, 3010], 4900)?.fps).to.be.below(2);
  });

  it('ends two seconds after the last one, and begins anew', () => {
    expect(measured(steady, 5100)).to.equal(null);
    expect(measured([...steady, 9000, 9025], 9030)).to.deep.equal({ fps: 40, kbps: 320 });
  });
});
