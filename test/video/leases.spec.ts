import { expect } from 'chai';
import fc from 'fast-check';
import { LeaseBook, type ProfileName } from '../../residual/app/video/leases.ts';
import { ApiError } from '../../shared/errors.ts';

function book(base: ProfileName = 'thumbnail') {
  const clock = { now: 1_000_000 };
  return { clock, leases: new LeaseBook(base, () => clock.now) };
}

describe('video leases', () => {
  it('the base profile holds until somebody has a lease, and again when the last one is gone', () => {
    const { leases } = book();
    expect(leases.wanted).to.equal('thumbnail');
    leases.hold('a', 'hero', 30);
    leases.hold('b', 'hero', 30);
    leases.release('a');
    expect(leases.wanted).to.equal('hero');
    leases.release('b');
    expect(leases.wanted).to.equal('thumbnail');
  });

  it('a lease lapses at its millisecond, and renewed in the last one it does not', () => {
    const { clock, leases } = book();
    leases.hold('a', 'hero', 5);
    clock.now += 4999;
    expect(leases.wanted).to.equal('hero');
    leases.hold('a', 'hero', 5);
    clock.now += 4999;
    expect(leases.wanted).to.equal('hero');
    clock.now += 1;
    expect(leases.wanted).to.equal('thumbnail');
    expect(leases.live()).to.deep.equal([]);
  });

  it('thumbnail by the holder gives its lease back, and takes nobody else’s', () => {
    const { leases } = book();
    leases.hold('a', 'hero', 30);
    leases.hold('b', 'thumbnail', 30);
    expect(leases.wanted).to.equal('hero');
    leases.hold('a', 'thumbnail', 30);
    expect(leases.wanted).to.equal('thumbnail');
  });

  it('the base moves under live leases and shows when they end', () => {
    const { clock, leases } = book('hero');
    leases.hold('a', 'hero', 5);
    leases.moveBase('thumbnail');
    expect([leases.base, leases.wanted]).to.deep.equal(['thumbnail', 'hero']);
    clock.now += 5000;
    expect(leases.wanted).to.equal('thumbnail');
  });

  it('K1 the name vision is reserved', () => {
    const { leases } = book();
    expect(() => leases.hold('vision', 'hero', 30))
      .to.throw(ApiError)
      .that.deep.includes({
        code: 'E_INVALID_VALUE',
        extras: { errors: [{ path: '/holder', message: 'is reserved' }] },
      });
    expect(leases.live()).to.deep.equal([]);
    leases.holdOwn(5);
    expect(leases.live()).to.deep.equal([
      { holder: 'vision', profile: 'hero', lease_s: 5, expiresAt: 1_005_000 },
    ]);
    expect(() => leases.hold('vision', 'thumbnail', 30), 'nor released').to.throw(ApiError);
    expect(leases.wanted).to.equal('hero');
  });

  it('the next to end comes first', () => {
    const { leases } = book();
    for (const [holder, seconds] of [
      ['b', 20],
      ['c', 30],
      ['a', 10],
    ] as const)
      leases.hold(holder, 'hero', seconds);
    expect(leases.live().map(({ holder }) => holder)).to.deep.equal(['a', 'b', 'c']);
  });

  it('64 holders are the most; whoever holds one may renew, and a lapsed one makes room', () => {
    const { clock, leases } = book();
    for (let i = 0; i < 64; i++) leases.hold(`h${i}`, 'hero', i === 0 ? 5 : 30);
    expect(() => leases.hold('one-more', 'hero', 5))
      .to.throw(ApiError)
      .that.deep.includes({ code: 'E_RATE_LIMITED', headers: { 'retry-after': '5' } });
    leases.hold('h1', 'hero', 30);
    clock.now += 5000;
    leases.hold('one-more', 'hero', 5);
    expect(leases.live()).to.have.length(64);
  });

  it('whatever happens in whatever order, it agrees with a list of holders and times', () => {
    const holder = fc.constantFrom('a', 'b', 'c', 'd');
    const profile = fc.constantFrom<ProfileName>('hero', 'thumbnail');
    const step = fc.oneof(
      fc.record({
        do: fc.constant('hold' as const),
        holder,
        profile,
        seconds: fc.integer({ min: 5, max: 120 }),
      }),
      fc.record({ do: fc.constant('release' as const), holder }),
      fc.record({ do: fc.constant('base' as const), profile }),
      fc.record({
        do: fc.constant('wait' as const),
        ms: fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.constant(5000)),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, leases } = book();
        const model = new Map<string, number>();
        let base: ProfileName = 'thumbnail';
        for (const now of steps) {
          if (now.do === 'hold') leases.hold(now.holder, now.profile, now.seconds);
          if (now.do === 'hold' && now.profile === 'hero')
            model.set(now.holder, clock.now + now.seconds * 1000);
          if (now.do === 'release') leases.release(now.holder);
          if (now.do === 'release' || (now.do === 'hold' && now.profile === 'thumbnail'))
            model.delete(now.holder);
          if (now.do === 'base') {
            leases.moveBase(now.profile);
            base = now.profile;
          }
          if (now.do === 'wait') clock.now += now.ms;
          const live = [...model].filter(([, end]) => end > clock.now).map(([name]) => name);
          expect(
            leases
              .live()
              .map((lease) => lease.holder)
              .toSorted(),
          ).to.deep.equal(live.toSorted());
          expect(leases.wanted).to.equal(live.length > 0 ? 'hero' : base);
        }
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
