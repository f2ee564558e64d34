import { expect } from 'chai';
import { PeerBudgets } from '../../front/edge/rate.ts';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';

describe('budgets of a peer', () => {
  let now = 0;
  let budgets: PeerBudgets;
  beforeEach(() => {
    now = 1_000_000;
    budgets = new PeerBudgets(() => now);
  });

  it('allow a burst of 120, then 60 a second', () => {
    for (let i = 0; i < 120; i++) {
      expect(budgets.limitedFor('a')).to.equal(null);
      budgets.spend('a');
    }
    expect(budgets.limitedFor('a')).to.equal(1);
    expect(budgets.limitedFor('b')).to.equal(null);
    now += 1000;
    for (let i = 0; i < 60; i++) {
      expect(budgets.limitedFor('a')).to.equal(null);
      budgets.spend('a');
    }
    expect(budgets.limitedFor('a')).to.equal(1);
  });

  it('lock after 10 failed credentials a minute, longer each time, up to 15 minutes', () => {
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) budgets.fail('a');
    };
    fail(9);
    expect(budgets.lockedFor('a')).to.equal(null);
    fail(1);
    const locks: (number | null)[] = [];
    for (let i = 0; i < 7; i++) {
      const lock = budgets.lockedFor('a');
      locks.push(lock);
      now += (lock ?? 0) * 1000;
      expect(budgets.lockedFor('a')).to.equal(null);
      fail(10);
    }
    expect(locks).to.deep.equal([30, 60, 120, 240, 480, 900, 900]);
    expect(budgets.lockedFor('b')).to.equal(null);
  });

  it('forget a failure after a minute', () => {
    for (let i = 0; i < 30; i++) {
      budgets.fail('a');
      now += 7000;
    }
    expect(budgets.lockedFor('a')).to.equal(null);
  });

  it('are kept for a bounded number of peers', () => {
    for (let i = 0; i < 10_000; i++) budgets.spend(`peer ${i}`);
    expect(budgets.size).to.be.at.most(4096);
  });
});

describe('a flood from one address (needs root and iproute2)', () => {
  it('is answered 429 and 401, locked out, and delays neither /healthz nor a keyed caller from another', async function () {
    if (noNamespaces() !== null) this.skip();
    const node = await TestNode.start({ pairing: { key: KEY } });
    const flooder = await RemoteHost.create('10.97.0.1/24', '10.97.0.2/24');
    const operator = await RemoteHost.create('10.96.0.1/24', '10.96.0.2/24');
    try {
      const from = async (host: RemoteHost, path: string, key?: string) =>
        (
          await host.call({
            url: `http://${host.near}:${node.port}${path}`,
            ...(key === undefined ? {} : { headers: { 'x-svc-key': key } }),
          })
        ).status;
      const guesses = Promise.all(
        Array.from({ length: 200 }, async () => from(flooder, '/api/status', 'svc_guess')),
      );
      for (let i = 0; i < 20; i++) {
        expect(await from(operator, '/api/status', KEY)).to.equal(200);
        expect((await node.fetch('/healthz')).status).to.equal(200);
      }
      const answers = await guesses;
      expect(answers.filter((status) => status === 401)).to.have.length(10);
      expect(answers.filter((status) => status === 429)).to.have.length(190);
      expect(await from(flooder, '/api/status', KEY)).to.equal(429); // locked, even with the right key
      expect(await from(flooder, '/healthz')).to.equal(200);
      expect(await from(operator, '/api/status', KEY)).to.equal(200);
    } finally {
      await flooder.destroy();
      await operator.destroy();
      await node.stop();
    }
  });
});
