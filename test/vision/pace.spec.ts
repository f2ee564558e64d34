import { expect } from 'chai';
import { Pace } from '../../residual/vision/pace.ts';

describe('the pace of a detector', () => {
  it('is what was configured, where that costs at most a quarter of all cores', () => {
    expect(new Pace(5, 2, 40).hz).to.equal(5);
    expect(new Pace(30, 2, 50).hz).to.equal(10);
    expect(new Pace(30, 4, 50).hz).to.equal(20);
  });

  it('follows what the pictures cost, and never stops', () => {
    const pace = new Pace(10, 2, 50);
    for (let picture = 0; picture < 50; picture++) pace.spent(100);
    expect(pace.hz).to.be.closeTo(5, 0.1);
    for (let picture = 0; picture < 50; picture++) pace.spent(60_000);
    expect(pace.hz).to.equal(0.2);
    for (let picture = 0; picture < 90; picture++) pace.spent(10);
    expect(pace.hz).to.equal(10);
  });
});
