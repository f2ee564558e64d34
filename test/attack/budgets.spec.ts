import { expect } from 'chai';
import type { Origin } from '../../front/control/edge/origins.ts';
import { Records } from '../../front/control/middleware/records.ts';
import { peerKey } from '../../shared/auth/address.ts';
import { ConnectionCaps } from '../../shared/http/edge/connections.ts';
import { PeerBudgets } from '../../shared/http/edge/rate.ts';
import { type Ask, judge, KEY, withKey } from '../support/edge.ts';
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

  it('a request that is refused costs as much as one that is served', () => {
    const records = new Records(budgets, {
      refused: () => undefined,
      announce: () => ({ written: async () => true, settle: () => undefined }),
      state: { lost: 0, problem: null, stalled: null, disk: null, broken: null },
    });
    const asks: readonly Ask[] = [
      { target: '/api/nothing', headers: [withKey] },
      { target: '/api/nothing' },
      { target: '/api/status' },
      { target: '/api/status', method: 'PATCH', headers: [withKey] },
      { target: '/api/status?x=%zz', headers: [withKey] },
    ];
    for (let i = 0; i < 120; i++) {
      expect(budgets.limitedFor('a')).to.equal(null);
      const decision = judge(asks[i % asks.length] ?? { target: '/' });
      if (decision.kind === 'refuse') records.refused(decision, { peer: 'a', ip: '10.0.0.1' } as Origin);
    }
    expect(budgets.limitedFor('a')).to.equal(1);
    const limited = judge({ target: '/api/status', headers: [withKey], limitedFor: 1 });
    expect(limited).to.include({ kind: 'refuse', counted: false });
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

  it('a lock begins anew at 30 s once nobody has failed for a minute after it, and not a moment sooner', () => {
    const lockAgain = (): number | null => {
      for (let i = 0; i < 10; i++) budgets.fail('a');
      return budgets.lockedFor('a');
    };
    expect([lockAgain(), lockAgain(), lockAgain()]).to.deep.equal([30, 60, 120]);
    now += 120_000 + 60_000;
    expect(lockAgain()).to.equal(240);
    now += 240_000 + 60_001;
    expect(lockAgain()).to.equal(30);
    now += 30_000 + 60_001;
    expect(lockAgain()).to.equal(30);
    // A minute after its last failure, but within the minute after its lock.
    expect(lockAgain()).to.equal(60);
    now += 60_001;
    expect(lockAgain()).to.equal(120);
  });

  it('a lock lasts to its last millisecond; each one is told', () => {
    let told = 0;
    budgets = new PeerBudgets(
      () => now,
      () => told++,
    );
    for (let i = 0; i < 9; i++) budgets.fail('a');
    expect([told, budgets.locks()]).to.deep.equal([0, []]);
    budgets.fail('a');
    expect([told, budgets.locks()]).to.deep.equal([1, [{ peer: 'a', leftMs: 30_000, nextLockMs: 60_000 }]]);
    now += 29_999;
    expect([budgets.lockedFor('a'), budgets.locks()]).to.deep.equal([
      1,
      [{ peer: 'a', leftMs: 1, nextLockMs: 60_000 }],
    ]);
    now += 1;
    expect([budgets.lockedFor('a'), budgets.locks()]).to.deep.equal([null, []]);
  });

  it('ten failures over more than a minute lock nobody, ten within it do', () => {
    budgets.fail('a');
    now += 60_000;
    for (let i = 0; i < 9; i++) budgets.fail('a');
    expect(budgets.lockedFor('a')).to.equal(30);
    budgets.fail('b');
    now += 60_001;
    for (let i = 0; i < 9; i++) budgets.fail('b');
    expect(budgets.lockedFor('b')).to.equal(null);
  });

  it('locks of a former process are taken over within their bounds: 15 minutes at most, 30 s the next at least, 4096 peers', () => {
    budgets.restore([
      { peer: 'long', leftMs: 1e9, nextLockMs: 1e9 },
      { peer: 'short', leftMs: 5000, nextLockMs: 1 },
      { peer: 'plain', leftMs: 40_000, nextLockMs: 120_000 },
    ]);
    expect(budgets.locks()).to.deep.equal([
      { peer: 'long', leftMs: 900_000, nextLockMs: 900_000 },
      { peer: 'short', leftMs: 5000, nextLockMs: 30_000 },
      { peer: 'plain', leftMs: 40_000, nextLockMs: 120_000 },
    ]);
    for (let i = 0; i < 10; i++) budgets.fail('plain');
    expect(budgets.lockedFor('plain'), 'longer, as if it had not been restarted').to.equal(120);
    const full = new PeerBudgets(() => now);
    full.restore(
      Array.from({ length: 4097 }, (_, i) => ({ peer: `p${i}`, leftMs: 1000, nextLockMs: 60_000 })),
    );
    expect([full.size, full.locks().some(({ peer }) => peer === 'p4096')]).to.deep.equal([4096, false]);
    expect(full.locks().some(({ peer }) => peer === 'p4095')).to.equal(true);
  });

  it('with no room for another, who was never locked goes first, then those whose lock and its minute are over', () => {
    for (let i = 0; i < 10; i++) budgets.fail('locked');
    for (let i = 0; i < 4095; i++) budgets.fail(`once ${i}`);
    expect(budgets.size).to.equal(4096);
    for (let i = 0; i < 9; i++) budgets.fail('once 0');
    expect(budgets.lockedFor('once 0'), 'it is remembered').to.equal(30);
    for (let i = 0; i < 9; i++) budgets.fail('new');
    budgets.fail('once 1'); // forgotten for `new`: its first failure again
    expect(budgets.size).to.equal(4096);
    budgets.fail('new');
    expect([budgets.lockedFor('new'), budgets.lockedFor('locked')]).to.deep.equal([30, 30]);
    now += 30_000 + 60_001;
    budgets.fail('after');
    expect(budgets.size, 'all of them are over').to.equal(1);
  });

  it('where every place is a lock, newcomers share one, and it is not taken from them', () => {
    for (let i = 0; i < 4096; i++) for (let again = 0; again < 10; again++) budgets.fail(`p${i}`);
    expect(budgets.lockedFor('new'), 'nobody of them has failed').to.equal(null);
    for (let i = 0; i < 9; i++) budgets.fail(`new ${i}`);
    expect(budgets.lockedFor('new')).to.equal(null);
    budgets.fail('new 9');
    expect([budgets.lockedFor('new'), budgets.lockedFor('p7'), budgets.size]).to.deep.equal([30, 30, 4097]);
    now += 90_000; // a minute after the locks, and no longer
    budgets.fail('p8');
    expect(budgets.size).to.equal(4097);
  });

  it('forget a failure after a minute', () => {
    for (let i = 0; i < 30; i++) {
      budgets.fail('a');
      now += 7000;
    }
    expect(budgets.lockedFor('a')).to.equal(null);
  });

  it('a lock is not pushed out by failures or requests of 10 000 other addresses, and lasts over a restart', () => {
    for (let i = 0; i < 10; i++) budgets.fail('thief');
    for (let i = 0; i < 10_000; i++) {
      budgets.spend(`other ${i}`);
      for (let again = 0; again < 10; again++) budgets.fail(`other ${i}`);
    }
    expect(budgets.lockedFor('thief')).to.equal(30);
    expect(budgets.lockedFor('who comes when there is no room')).to.be.a('number');
    expect(budgets.size).to.be.at.most(4097);
    const next = new PeerBudgets(() => 5);
    next.restore(budgets.locks());
    expect(next.lockedFor('thief')).to.equal(30);
  });

  it('are those of a /64, however it is written, and of an IPv4 address', () => {
    const one = peerKey('2001:db8:0:7::1');
    for (const same of ['2001:db8:0:7:ffff:ffff:ffff:ffff', '2001:0db8:0:7:0::9', '2001:DB8:0:7::'])
      expect(peerKey(same)).to.equal(one);
    for (const other of ['2001:db8:0:8::1', '2001:db8::7', '::1', 'fe80::1', '10.0.0.1', '10.0.0.2'])
      expect(peerKey(other)).to.not.equal(one);
    expect(peerKey('10.0.0.1')).to.equal('10.0.0.1');
    expect(peerKey('1:2:3:4:5:6:1.2.3.4')).to.equal(peerKey('1:2:3:4::'));
  });

  it('are kept for a bounded number of peers', () => {
    for (let i = 0; i < 10_000; i++) budgets.spend(`peer ${i}`);
    expect(budgets.size).to.be.at.most(4097);
  });

  it('who makes room is who has asked least lately, and no more are remembered for it', () => {
    for (let i = 0; i < 4096; i++) budgets.spend(`peer ${i}`);
    now += 3000;
    budgets.spend('peer 0'); // which comes first no longer, and is not full
    for (let i = 0; i < 120; i++) budgets.spend('new');
    expect(budgets.limitedFor('new'), 'it has a budget of its own').to.equal(1);
    for (let i = 0; i < 100; i++) budgets.spend(`newer ${i}`);
    expect(budgets.size).to.equal(4096);
  });

  it('10 000 strangers give a limited peer nothing back, and it pushes out none that is limited', () => {
    for (let i = 0; i < 120; i++) budgets.spend('greedy');
    for (let i = 0; i < 10_000; i++) {
      if (budgets.limitedFor(`stranger ${i}`) === null) budgets.spend(`stranger ${i}`);
    }
    expect(budgets.limitedFor('greedy')).to.equal(1);
    expect(budgets.limitedFor('one more'), 'those without a place share a budget').to.equal(1);
    now += 1000;
    for (let i = 0; i < 60; i++) budgets.spend('greedy');
    expect(budgets.limitedFor('greedy')).to.equal(1);
    // Whoever has been away until its budget was full again makes room.
    now += 3000;
    expect(budgets.limitedFor('one more')).to.equal(null);
    for (let i = 0; i < 120; i++) budgets.spend('one more');
    expect(budgets.limitedFor('one more')).to.equal(1);
    expect(budgets.limitedFor('another')).to.equal(null);
  });
});

describe('connections', () => {
  const open = (caps: ConnectionCaps, peer: string, count: number, isHere = false): number =>
    Array.from({ length: count }, () => caps.open(peer, isHere)).filter(Boolean).length;

  it('one address has 64 of them, one that has shown a credential 256, this machine as many as there are', () => {
    const caps = new ConnectionCaps(1024);
    expect(open(caps, 'a', 1000)).to.equal(64);
    caps.close('a');
    expect(open(caps, 'a', 10)).to.equal(1);
    caps.know('b');
    expect(open(caps, 'b', 1000)).to.equal(256);
    expect(open(caps, 'here', 300, true)).to.equal(300);
  });

  it('strangers of many addresses leave room for who has shown a credential, and those for this machine', () => {
    const caps = new ConnectionCaps(1024);
    caps.know('owner');
    let strangers = 0;
    for (let i = 0; i < 100; i++) strangers += open(caps, `stranger ${i}`, 64);
    expect(strangers).to.equal(896);
    expect(open(caps, 'owner', 100)).to.equal(64);
    expect(open(caps, 'here', 64, true)).to.equal(64);
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
      const flood = async (
        host: RemoteHost,
        path: string,
        rounds: number,
        key?: string,
      ): Promise<readonly number[]> => {
        const statuses: number[] = [];
        // At most so many at once as one address has connections.
        for (let round = 0; round < rounds; round++)
          statuses.push(
            ...(await Promise.all(Array.from({ length: 40 }, async () => from(host, path, key)))),
          );
        return statuses;
      };
      const guesses = flood(flooder, '/api/status', 5, 'svc_guess');
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

      await node.killAndAwaitSuccessor('svc-control');
      expect(await from(flooder, '/api/status', KEY), 'locked over the restart').to.equal(429);
      expect(await from(operator, '/api/status', KEY)).to.equal(200);
      const atOnce = await Promise.allSettled(
        Array.from({ length: 300 }, async () => from(flooder, '/healthz')),
      );
      expect(
        atOnce.filter(({ status }) => status === 'rejected'),
        'connections',
      ).to.have.length.within(1, 236);
      expect((await node.fetch('/healthz')).status).to.equal(200);
    } finally {
      await flooder.destroy();
      await operator.destroy();
      await node.stop();
    }
  });
});
