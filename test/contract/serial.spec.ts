import { expect } from 'chai';
import { Serial } from '../../shared/async/serial.ts';

describe('a serial queue', () => {
  it('runs one after the other, in order, and gives each caller its own result or error', async () => {
    const queue = new Serial();
    const heard: string[] = [];
    const slow = queue.run(async () => {
      heard.push('a begins');
      await new Promise(setImmediate);
      heard.push('a ends');
      return 1;
    });
    const failing = queue.run(() => {
      heard.push('b');
      throw new Error('disk full');
    });
    const last = queue.run(() => heard.push('c'));
    expect(queue.size).to.equal(3);
    const results = await Promise.allSettled([slow, failing, last]);
    expect(heard).to.deep.equal(['a begins', 'a ends', 'b', 'c']);
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(queue.size).to.equal(0);
  });

  it('is idle when all that was asked for has ended, failed or not', async () => {
    const queue = new Serial();
    const heard: string[] = [];
    const failing = queue.run(async () => {
      await new Promise(setImmediate);
      heard.push('ends');
      throw new Error('no');
    });
    failing.catch(() => heard.push('told'));
    await queue.idle();
    expect(heard).to.include('ends');
  });
});
