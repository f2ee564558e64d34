import { expect } from 'chai';
import { Target } from '../../residual/vision/target.ts';
import { type DetectedBox, Tracker } from '../../residual/vision/tracker.ts';

const at = (x: number, y: number, score = 0.8, kind = 0): DetectedBox => ({
  x,
  y,
  width: 20,
  height: 20,
  kind,
  score,
});

describe('tracks', () => {
  it('a small thing that leaves its box between two pictures keeps its number, and one that appears gets the next', () => {
    const tracker = new Tracker(0.5);
    for (let picture = 0; picture < 20; picture++) {
      const found = [at(picture * 22, 10), at(500, 300)];
      expect(tracker.update(found.slice(0, picture < 5 ? 1 : 2), picture / 5, 2)).to.deep.equal(
        picture < 5 ? [1] : [1, 2],
      );
    }
  });

  it('two things that pass each other keep their numbers', () => {
    const tracker = new Tracker(0.5);
    for (let picture = 0; picture <= 20; picture++) {
      const found = [at(picture * 10, 10), at(200 - picture * 10, 22)];
      expect(tracker.update(found, picture / 5, 2), String(picture)).to.deep.equal([1, 2]);
    }
  });

  it('a weak detection goes on with a track and begins none', () => {
    const tracker = new Tracker(0.5);
    expect(tracker.update([at(10, 10, 0.2)], 0, 2)).to.deep.equal([null]);
    expect(tracker.update([at(10, 10)], 0.2, 2)).to.deep.equal([1]);
    expect(tracker.update([at(12, 10, 0.2)], 0.4, 2)).to.deep.equal([1]);
    expect(tracker.update([at(300, 10, 0.2)], 0.6, 2)).to.deep.equal([null]);
  });

  it('what was away for a while is found where it should be by now; what was away for long is new', () => {
    const tracker = new Tracker(0.5);
    for (let picture = 0; picture < 10; picture++) tracker.update([at(picture * 10, 10)], picture / 5, 2);
    expect(tracker.update([at(140, 10)], 14 / 5, 2)).to.deep.equal([1]);
    expect(tracker.update([at(140, 10)], 30 / 5, 2)).to.deep.equal([2]);
    expect(tracker.update([at(140, 10, 0.8, 1)], 31 / 5, 2)).to.deep.equal([3]);
  });

  it('the target is locked, uncertain, lost, and then none', () => {
    const target = new Target();
    const state = (now: number): string | undefined => target.state(now)?.lock_state;
    const [seen, none] = [new Set([3]), new Set<number>()];
    target.point(3, 0, 2000);
    expect(state(100)).to.equal('locked');
    target.update(none, seen, 1000, 2000);
    expect(state(1000)).to.equal('uncertain');
    target.update(seen, none, 1200, 2000);
    expect(state(1200)).to.equal('locked');
    expect(state(3000), 'no picture comes').to.equal('uncertain');
    target.update(none, none, 3100, 2000);
    expect(state(3100)).to.equal('uncertain');
    expect(state(3300)).to.equal('lost');
    expect(state(8300)).to.equal(undefined);
    expect(target.id).to.equal(null);
  });
});
