import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PolicyStore } from '../../front/control/fleet/policy-store.ts';
import { ApiError } from '../../shared/errors.ts';
import { NotBelieved, thumbprint } from '../../shared/fleet/signed.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { FleetHand, newSigner, type Signer } from '../support/fleet-hand.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const NOW_S = Date.UTC(2026, 5, 1) / 1000;
const DAY_S = 86_400;

describe('what a node believes of its hub', () => {
  let folder: string;
  let file: string;
  let hand: FleetHand;
  let fleet: string | null;
  let wall: number;
  let clock: number;
  let said: string[];
  let store: PolicyStore;

  beforeEach(async () => {
    folder = await tempDir();
    file = join(folder, 'policy.json');
    hand = await FleetHand.create();
    [fleet, wall, clock, said] = [hand.fleet, NOW_S * 1000, 1000, []];
    store = await begun();
  });
  afterEach(async () => removeDir(folder));

  async function begun(path = file): Promise<PolicyStore> {
    const write = (sentence: string): void => {
      said.push(sentence);
    };
    const log = {
      ...createLogger('test', 'silent'),
      warn: write,
      error: write,
    } as unknown as typeof silentLog;
    const next = new PolicyStore({
      file: path,
      fleet: () => fleet,
      now: () => wall,
      monotonic: () => clock,
      log,
    });
    await next.start();
    return next;
  }
  const policy = async (change: Parameters<FleetHand['policy']>[0] = {}, by?: Signer): Promise<string> =>
    hand.policy({ iat: NOW_S, ...change }, by);
  const refused = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );
  const keyOf = async (signer: Signer) => thumbprint(signer.jwk);

  it('nothing before the first policy: no key, and every credential is ended', async () => {
    expect([store.seq, store.key(hand.hub.kid), store.isRevoked('mc_a')]).to.deep.equal([null, null, true]);
    const error = await refused(store.accept(await policy()));
    expect(error).to.be.instanceOf(NotBelieved);
    expect(said).to.deep.equal([]);
    expect(store.seconds).to.equal(NOW_S);
  });

  it('the first one, for where it comes from, if its own key signed it; it is on the disk', async () => {
    await store.trust(await policy({ seq: 4, revoked: ['mc_b'] }));
    expect([store.seq, store.isRevoked('mc_a'), store.isRevoked('mc_b')]).to.deep.equal([4, false, true]);
    expect(store.key(await keyOf(hand.hub))).to.deep.equal(hand.hub.jwk);
    expect(store.key('x')).to.equal(null);
    const kept = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    expect(kept).to.include({ version: 1, proved: NOW_S });
    const again = await begun();
    expect([again.seq, again.isRevoked('mc_b'), said]).to.deep.equal([4, true, []]);
    const stranger = await newSigner();
    for (const jws of [await policy({}, stranger), 'x', 'a.b.c', '', `${await policy()}x`])
      expect(await refused(store.trust(jws)), jws.slice(0, 5)).to.be.instanceOf(NotBelieved);
    for (const key of [3, null, {}, { kty: 'OKP', crv: 'none', x: 1 }]) {
      const payload = Buffer.from(JSON.stringify({ keys: [key] })).toString('base64url');
      expect(await refused(store.trust(`e30.${payload}.x`)), JSON.stringify(key)).to.be.instanceOf(
        NotBelieved,
      );
    }
    expect(store.seq, 'and what was before is no more').to.equal(null);
  });

  it('the next one by a key of the one before; not by another, of another fleet, or an older one', async () => {
    await store.trust(await policy({ seq: 4 }));
    const next = await newSigner();
    expect(await refused(store.accept(await policy({ seq: 5, keys: [next.jwk] }, next)))).to.be.instanceOf(
      NotBelieved,
    );
    expect(await refused(store.accept(await policy({ seq: 5, fleet: 'fl_other0000' })))).to.be.instanceOf(
      NotBelieved,
    );
    expect(await refused(store.accept(await policy({ seq: 3 })))).to.be.instanceOf(NotBelieved);
    expect(await store.accept(await policy({ seq: 5, keys: [hand.hub.jwk, next.jwk] }))).to.equal(5);
    expect(await store.accept(await policy({ seq: 6, keys: [next.jwk] }, next))).to.equal(6);
    expect(await refused(store.accept(await policy({ seq: 7 })))).to.be.instanceOf(NotBelieved);
    expect(store.key(await keyOf(hand.hub))).to.equal(null);
    expect((await begun()).seq).to.equal(6);
  });

  it('of the same number the later one counts, and the same again is not written again', async () => {
    await store.trust(await policy({ seq: 4 }));
    expect(await store.accept(await policy({ seq: 4, iat: NOW_S + 1, revoked: ['mc_a'] }))).to.equal(4);
    expect(store.isRevoked('mc_a')).to.equal(true);
    const before = await readFile(file, 'utf8');
    expect(await store.accept(await policy({ seq: 4, iat: NOW_S + 1, revoked: [] }))).to.equal(4);
    expect(await store.accept(await policy({ seq: 4, iat: NOW_S - 5, revoked: [] }))).to.equal(4);
    expect([store.isRevoked('mc_a'), await readFile(file, 'utf8')]).to.deep.equal([true, before]);
    // A higher number counts, though it says to be of an earlier time.
    expect(await store.accept(await policy({ seq: 5, iat: NOW_S - 5 }))).to.equal(5);
    expect(store.isRevoked('mc_a')).to.equal(false);
  });

  it('a file that is no policy is nobody’s word, and is told', async () => {
    await store.trust(await policy());
    for (const text of [
      'x',
      'null',
      '{}',
      '{"jws":7}',
      '{"jws":"a.b.c"}',
      JSON.stringify({ jws: [await policy()] }),
    ]) {
      said = [];
      await writeFile(file, text, { mode: 0o600 });
      const other = await begun();
      expect([other.seq, other.isRevoked('mc_a'), said.length], text).to.deep.equal([null, true, 1]);
    }
    await writeFile(file, '{}', { mode: 0o600 });
    said = [];
    await begun();
    expect(said.join()).to.include('has no policy');
    await chmod(file, 0o644);
    expect((await begun()).seq).to.equal(null);
    fleet = null;
    said = [];
    await begun();
    expect(said, 'of no fleet: it is not read').to.deep.equal([]);
  });

  it('that cannot be kept is an error', async () => {
    const nowhere = join(folder, 'folder');
    await mkdir(nowhere);
    const other = await begun(nowhere);
    const error = await refused(other.trust(await policy()));
    expect(error).to.be.instanceOf(ApiError).and.to.include({ code: 'E_STORE' });
    expect((error as Error).message).to.include('could not be written');
  });

  it('stop waits for what is being kept', async () => {
    const trusting = store.trust(await policy());
    await store.stop();
    expect(await readFile(file, 'utf8')).to.include('"version":1');
    await trusting;
  });

  describe('of the time', () => {
    beforeEach(async () => {
      await store.trust(await policy());
      wall = Date.UTC(2020, 0, 1);
    });

    it('what it has signed is passed; from then on the steady clock counts', async () => {
      expect(store.seconds).to.equal(NOW_S);
      clock += 59_999;
      expect(store.seconds).to.equal(NOW_S + 59);
      clock += 1;
      expect(store.seconds).to.equal(NOW_S + 60);
      wall = (NOW_S + 61) * 1000 + 999;
      expect(store.seconds, 'our own clock, where it is later').to.equal(NOW_S + 61);
    });

    it('a token proves no more than a day beyond that, and less takes nothing back', async () => {
      store.proves(NOW_S + 100);
      expect(store.seconds).to.equal(NOW_S + 100);
      clock += 10_000;
      store.proves(NOW_S + 50);
      expect(store.seconds).to.equal(NOW_S + 110);
      store.proves(NOW_S + 10 + DAY_S);
      expect([store.seconds, said]).to.deep.equal([NOW_S + 10 + DAY_S, []]);
      store.proves(NOW_S + 11 + DAY_S);
      expect(store.seconds).to.equal(NOW_S + 10 + DAY_S);
      expect(said).to.have.length(1);
      expect(said[0]).to.include('a token').and.to.include('2026-06-02T00:00:11.000Z');
      store.proves(NOW_S + 3 * DAY_S);
      expect(said, 'told once').to.have.length(1);
    });

    it('a policy ahead of every other evidence counts for a day more, is told, and one that is right again is forgiven', async () => {
      await store.accept(await policy({ seq: 2, iat: NOW_S + 400 * DAY_S }));
      expect(store.seconds).to.equal(NOW_S + DAY_S);
      expect(said).to.have.length(1);
      expect(said[0]).to.include('the policy');
      await store.accept(await policy({ seq: 3, iat: NOW_S + 401 * DAY_S }));
      expect([store.seconds, said.length]).to.deep.equal([NOW_S + 2 * DAY_S, 1]);
      await store.accept(await policy({ seq: 4, iat: NOW_S + 5 }));
      expect(store.seconds, 'the hub itself says so').to.equal(NOW_S + 5);
      await store.accept(await policy({ seq: 5, iat: NOW_S + 6 }));
      await store.accept(await policy({ seq: 6, iat: NOW_S + 9 * DAY_S }));
      expect(said, 'told anew').to.have.length(2);
    });

    it('a time that no calendar has is told as its seconds', async () => {
      store.proves(9e15);
      expect(said[0]).to.include('second 9000000000000000');
    });

    it('the same policy again says nothing new; one of the same time and a higher number does not take the time back', async () => {
      clock += 60_000;
      await store.accept(await policy());
      expect(store.seconds).to.equal(NOW_S + 60);
      await store.accept(await policy({ seq: 2 }));
      expect(store.seconds).to.equal(NOW_S + 60);
      store.proves(NOW_S + 500);
      await store.accept(await policy({ seq: 2 }));
      expect(store.seconds, 'the same again leaves what tokens say').to.equal(NOW_S + 500);
      await store.accept(await policy({ seq: 3, iat: NOW_S + 1 }));
      expect(store.seconds, 'a new one takes its place').to.equal(NOW_S + 60);
    });

    it('after a restart what was proved counts, not what was said; and never more than was said', async () => {
      await store.accept(await policy({ seq: 2, iat: NOW_S + 400 * DAY_S }));
      expect((await begun()).seconds).to.equal(NOW_S + DAY_S);
      const kept = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
      for (const [proved, wanted] of [
        [NOW_S + 7, NOW_S + 7],
        [NOW_S + 500 * DAY_S, NOW_S + 400 * DAY_S],
        ['7', NOW_S + 400 * DAY_S],
        [7.5, NOW_S + 400 * DAY_S],
        [undefined, NOW_S + 400 * DAY_S],
      ] as const) {
        await writeFile(file, JSON.stringify({ ...kept, proved }), { mode: 0o600 });
        expect((await begun()).seconds, String(proved)).to.equal(wanted);
      }
    });
  });
});
