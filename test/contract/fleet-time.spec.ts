import { expect } from 'chai';
import { CallVerifier } from '../../front/control/fleet/call-credential.ts';
import { FleetCalls } from '../../front/control/fleet/fleet-calls.ts';
import { Nonces } from '../../front/control/fleet/nonces.ts';
import { PolicyStore } from '../../front/control/fleet/policy-store.ts';
import { signStatement } from '../../shared/fleet/signed.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { Reply } from '../../shared/schemas/fleet-statements.ts';
import {
  FleetHand,
  newJti,
  newSigner,
  readReply,
  type Signer,
  signCall,
  type TestCaller,
} from '../support/fleet-hand.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Body = Readonly<Record<string, unknown>>;
const NODE = 'drone-1';

/** What the rules of nonces, tokens and policies say when time passes, without waiting for it. */
describe('time in calls of the fleet', () => {
  let folder: string;
  let hand: FleetHand;
  let signing: Signer;
  let caller: TestCaller;
  let wall: number;
  let clock: number;
  let ran: number;
  let nonces: Nonces;
  let policy: PolicyStore;
  let calls: FleetCalls;

  beforeEach(async () => {
    folder = await tempDir();
    [hand, signing] = await Promise.all([FleetHand.create(), newSigner()]);
    const week = Math.floor(Date.now() / 1000) + 7 * 86_400;
    caller = await hand.caller({ exp: week });
    [wall, clock, ran] = [Date.now(), 1000, 0];
    await begin();
    await policy.trust(await hand.policy());
  });
  afterEach(async () => removeDir(folder));

  /** The node starts, or starts again over its files. */
  async function begin(): Promise<void> {
    const monotonic = (): number => clock;
    nonces = new Nonces(monotonic);
    policy = new PolicyStore({
      file: `${folder}/policy.json`,
      fleet: () => hand.fleet,
      now: () => wall,
      monotonic,
      log: createLogger('test', 'error'),
    });
    await policy.start();
    const verifier = new CallVerifier({
      node: NODE,
      fleet: () => hand.fleet,
      policy,
      nonces,
      now: monotonic,
      operators: [],
      scopes: ['read', 'admin'],
    });
    calls = new FleetCalls({
      node: NODE,
      verifier,
      signing: () => signing,
      run: async (_caller, _call, credential) =>
        credential.kind === 'valid'
          ? { status: 200, body: { ran: ++ran } }
          : { status: 401, body: { code: credential.code, ...credential.extras } },
      now: monotonic,
    });
  }

  async function sign(within?: number): Promise<string> {
    const deadline = within === undefined ? {} : { within_ms: within };
    const asked = { path: '/api/x', node: NODE, nonce: nonces.current, jti: newJti(), ...deadline };
    const call = { method: 'POST', ...asked } as const;
    return signCall(caller, call);
  }

  async function carry(jws: string): Promise<Reply['body']> {
    const reply = await calls.call(caller.id, jws);
    return reply === null ? null : (await readReply(reply, signing.jwk)).body;
  }

  it('a nonce is good for 30 s of the node, whatever its wall clock says', async () => {
    const jws = [await sign(), await sign(), await sign()];
    wall = Date.UTC(1970, 0, 1);
    clock += 29_000;
    expect(await carry(jws[0] ?? '')).to.deep.equal({ ran: 1 });
    clock += 2000;
    expect(await carry(jws[1] ?? '')).to.deep.equal({ code: 'E_STALE', nonce: nonces.current });
    expect(await carry(await sign())).to.deep.equal({ ran: 2 });
  });

  it('a call whose caller has given up does not begin, wherever it was held up', async () => {
    for (const within of [0, 3000, 12_000]) {
      clock += 60_050; // in the middle of a nonce
      const [inTime, late] = [await sign(within), await sign(within)];
      clock += Math.max(0, within - 100);
      if (within > 0) expect(await carry(inTime)).to.have.property('ran');
      clock += 200;
      expect(await carry(late)).to.deep.equal({ code: 'E_STALE', nonce: nonces.current });
    }
    expect(ran).to.equal(2);
  });

  it('a call without a deadline is none, nor is one with more than a nonce is good for', async () => {
    const [head, body = '', end] = (await sign(5000)).split('.');
    const { within_ms: _none, ...rest } = JSON.parse(Buffer.from(body, 'base64url').toString()) as Body;
    for (const said of [rest, { ...rest, within_ms: 30_001 }, { ...rest, within_ms: -1 }]) {
      const jws = await signStatement('svc-call', said as never, caller.signer.key, caller.signer.kid, {
        token: caller.token,
      });
      expect(await carry(jws), JSON.stringify(said)).to.include({ code: 'E_UNAUTHENTICATED' });
    }
    const stretched = Buffer.from(JSON.stringify({ ...rest, within_ms: 6000 })).toString('base64url');
    expect(await carry(`${head}.${stretched}.${end}`)).to.include({ code: 'E_UNAUTHENTICATED' });
    expect(ran).to.equal(0);
  });

  it('a call that ran is answered with the same when it comes again, also after its nonce', async () => {
    const jws = await sign();
    expect(await carry(jws)).to.deep.equal({ ran: 1 });
    clock += 60_000;
    expect(await carry(jws)).to.deep.equal({ ran: 1 });
    expect(ran).to.equal(1);
  });

  it('after a restart and after a day nothing of before runs again', async () => {
    const [done, lost] = [await sign(), await sign()];
    await carry(done);
    await begin();
    expect(await carry(done)).to.include({ code: 'E_OUTCOME_UNKNOWN' });
    expect(await carry(lost)).to.include({ code: 'E_OUTCOME_UNKNOWN' });
    const old = await sign();
    clock += 24 * 3_600_000;
    expect(await carry(old)).to.include({ code: 'E_STALE' });
    expect(ran).to.equal(1);
  });

  it('a late clock revives no token: what the hub has signed proves the time', async () => {
    const iat = Math.floor(wall / 1000);
    const old = await hand.caller({ exp: iat + 60 });
    wall = Date.UTC(2020, 0, 1);
    await policy.accept(await hand.policy({ seq: 2, iat: iat + 120 }));
    const call = { method: 'GET', path: '/api/x', node: NODE, nonce: nonces.current, jti: newJti() } as const;
    expect(await carry(await signCall(old, call))).to.include({ code: 'E_UNAUTHENTICATED' });
    expect(await carry(await sign())).to.deep.equal({ ran: 1 });
  });

  it('keeps the newest policy over a restart, and then takes no older one', async () => {
    await policy.accept(await hand.policy({ seq: 7, revoked: [caller.id] }));
    await begin();
    expect(policy.seq).to.equal(7);
    expect(await carry(await sign())).to.include({ code: 'E_UNAUTHENTICATED' });
    const refused = await policy
      .accept(await hand.policy({ seq: 6 }))
      .catch((error: unknown) => String(error));
    expect(refused).to.match(/older/);
  });

  const callAs = async (by: TestCaller): Promise<Reply['body']> => {
    const call = { method: 'GET', path: '/api/x', node: NODE, nonce: nonces.current, jti: newJti() } as const;
    const reply = await calls.call(by.id, await signCall(by, call));
    return reply === null ? null : (await readReply(reply, signing.jwk)).body;
  };

  it('a hub whose clock was 400 days ahead locks nobody out: the bound holds at once, and its next policy sets the time right', async () => {
    const iat = Math.floor(wall / 1000);
    const hour = await hand.caller({ exp: iat + 3600 });
    await policy.accept(await hand.policy({ seq: 2, iat: iat + 400 * 86_400 }));
    expect(policy.seconds).to.equal(iat + 86_400);
    expect(await callAs(caller), 'its token is good for a week').to.have.property('ran');
    await begin();
    expect(policy.seconds, 'also after a restart').to.equal(iat + 86_400);
    await policy.accept(await hand.policy({ seq: 3, iat: iat + 10 }));
    expect(await callAs(hour)).to.have.property('ran');
    await begin();
    expect(await callAs(hour), 'also after a restart').to.have.property('ran');
  });

  it('a token of a time that has not come locks nobody out for longer than until the next policy', async () => {
    const iat = Math.floor(wall / 1000);
    const hour = await hand.caller({ exp: iat + 3600 });
    const ahead = await hand.caller({ iat: iat + 400 * 86_400, exp: iat + 401 * 86_400 });
    for (let n = 0; n < 5; n++) expect(await callAs(ahead)).to.have.property('ran');
    expect(policy.seconds).to.equal(iat + 86_400);
    await policy.accept(await hand.policy({ seq: 2, iat: iat + 10 }));
    expect(await callAs(hour)).to.have.property('ran');
  });

  it('a policy that was held back on its way does not take the time back, nor does the same one again', async () => {
    const iat = Math.floor(wall / 1000);
    const hour = await hand.caller({ exp: iat + 3600 });
    wall = Date.UTC(2020, 0, 1);
    const same = await hand.policy({ seq: 2, iat: iat + 60 });
    await policy.accept(same);
    clock += 2 * 3_600_000;
    await policy.accept(await hand.policy({ seq: 3, iat: iat + 120 }));
    await policy.accept(await hand.policy({ seq: 3, iat: iat + 120 }));
    expect(policy.seconds).to.equal(iat + 60 + 7200);
    expect(await callAs(hour)).to.include({ code: 'E_UNAUTHENTICATED' });
  });
});
