import { expect } from 'chai';
import { deferred } from '../../shared/async/deferred.ts';
import { Slots } from '../../shared/async/slots.ts';

describe('slots', () => {
  const never = new AbortController().signal;

  it('so many run at the same time, the others in the order in which they came', async () => {
    const slots = new Slots(2);
    const ends = [deferred(), deferred(), deferred(), deferred()];
    const began: number[] = [];
    const runs = ends.map(async ({ promise }, index) =>
      slots.run(async () => {
        began.push(index);
        await promise;
      }, never),
    );
    expect([began, slots.waiting]).to.deep.equal([[0, 1], 2]);
    ends[1]?.resolve();
    await runs[1];
    ends[0]?.resolve();
    await runs[0];
    await Promise.resolve();
    expect([began, slots.waiting]).to.deep.equal([[0, 1, 2, 3], 0]);
    for (const end of ends) end.resolve();
    await Promise.all(runs);
  });

  it('who leaves while waiting takes nobody’s place, and a failure frees its own', async () => {
    const slots = new Slots(1);
    const end = deferred();
    const first = slots.run(async () => end.promise, never);
    const leaving = new AbortController();
    const left = slots
      .run(async () => Promise.resolve('left'), leaving.signal)
      .catch((error: unknown) => error);
    const last = slots.run(async () => Promise.resolve('last'), never);
    leaving.abort(new Error('gone'));
    expect(await left).to.match(/gone/);
    end.reject(new Error('failed'));
    expect(await first.catch((error: unknown) => error)).to.match(/failed/);
    expect(await last).to.equal('last');
    expect(await slots.run(async () => Promise.resolve('free'), never)).to.equal('free');
  });
});
