import { expect } from 'chai';
import { seeded } from '../support/seeded.ts';
import { type Sample, slopeOf } from './slopes.ts';

const random = seeded(5);

/** Half an hour of looks every 5 s. @param perHour growth */
function samples(run: number, level: number, perHour: number): readonly Sample[] {
  return Array.from({ length: 360 }, (_, index) => ({
    run,
    at: index * 5,
    value: level + (perHour * index * 5) / 3600 + (random() - 0.5) * 4,
  }));
}

describe('the slope of what a process holds', () => {
  it('finds a leak under its noise, with the truth in the interval', () => {
    const found = slopeOf(samples(1, 100, 20));
    expect(found?.points).to.equal(30);
    expect(found?.low).to.be.within(10, 20);
    expect(found?.high).to.be.within(20, 30);
  });

  it('finds none where there is none', () => {
    const found = slopeOf(samples(1, 100, 0));
    expect(found?.low).to.be.below(0);
    expect(found?.high).to.be.above(0);
  });

  it('a restart begins at another level, and is no growth', () => {
    const second = samples(2, 50, 0).map((sample) => ({ ...sample, at: sample.at + 1800 }));
    const found = slopeOf([...samples(1, 100, 0), ...second]);
    expect(Math.abs(found?.per_hour ?? Infinity)).to.be.below(3);
  });

  it('too few minutes are no slope', () => {
    expect(slopeOf(samples(1, 100, 0).slice(0, 60))).to.equal(null);
    expect(slopeOf([])).to.equal(null);
  });
});
