import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CompactSign, SignJWT } from 'jose';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { FLEET } from '../../shared/rpc/fleet.ts';
import type { CallStatement, Reply } from '../../shared/schemas/fleet-statements.ts';
import { NONCE_MS } from '../../shared/schemas/nonce.ts';
import { KEY } from '../support/edge.ts';
import { enrolByHand } from '../support/fleet-enrolment.ts';
import {
  FleetHand,
  newJti,
  newSigner,
  readReply,
  type Signer,
  signCall,
  signConfirm,
  type TestCaller,
} from '../support/fleet-hand.ts';
import { TestNode } from '../support/node.ts';

const NODE = 'd0d0d0d0d0d0';

type Body = Readonly<Record<string, unknown>>;

/** A hostile broker, or whoever holds svc-fleet: it can hand the node anything, and sees every reply. */
describe('calls of the fleet', function () {
  this.timeout(60_000);
  let hand: FleetHand;
  let operator: Signer;
  let nodeKey: Signer;
  let caller: TestCaller;
  let node: TestNode;
  let carrier: Client<typeof FLEET>;

  before(async () => {
    [hand, operator, nodeKey] = await Promise.all([FleetHand.create(), newSigner(), newSigner()]);
    caller = await hand.caller();
    node = await TestNode.start({
      pairing: { key: KEY },
      config: `fleet:\n  scopes: [read, safe_write, admin, flight, destructive]\n  operators: ['alice ${operator.jwk.x}']\n`,
      prepare: async (paths) => enrolByHand(paths, { node: NODE, hand, signer: nodeKey }),
    });
    carrier = clientOf(FLEET, { path: node.paths.fleetSocket });
    await carrier.connectOnce();
    await carrier.calls.policy({ jws: await hand.policy() });
  });
  after(async () => {
    carrier.stop();
    await node.stop();
  });

  async function nonce(): Promise<string> {
    return (await carrier.calls.status({})).nonce;
  }

  async function statement(change: Partial<CallStatement> = {}): Promise<CallStatement> {
    return {
      method: 'GET',
      path: '/api/status',
      node: NODE,
      nonce: await nonce(),
      within_ms: NONCE_MS,
      jti: newJti(),
      ...change,
    };
  }

  async function carry(jws: string, by = caller.id): Promise<Reply | null> {
    const { reply } = await carrier.calls.call({ caller: by, jws });
    return reply === null ? null : readReply(reply, nodeKey.jwk);
  }

  async function ask(
    change: Partial<CallStatement> = {},
    by = caller,
    confirm?: string,
  ): Promise<[number, Body]> {
    const reply = await carry(await signCall(by, await statement(change), confirm), by.id);
    return [reply?.status ?? 0, (reply?.body ?? {}) as Body];
  }

  async function code(change: Partial<CallStatement> = {}, by = caller, confirm?: string): Promise<unknown> {
    const [status, body] = await ask(change, by, confirm);
    return status === 200 ? 200 : body['code'];
  }

  it('answers a call of the fleet as any other caller, under the key of the node', async () => {
    const [status, body] = await ask();
    expect([status, body['version'], body['profile']]).to.deep.equal([
      200,
      (await nodeStatus())['version'],
      'drone',
    ]);
    expect(await code({ path: '/api/nothing' })).to.equal('E_NOT_FOUND');
    expect(await code({ path: '/api/logs?text=%2f..' })).to.equal(200);
    for (const path of [
      '/api/%2e%2e/status',
      '/api/status\r\nX-Svc-Key: x',
      '/api/st\u0000',
      '/api/ä',
      '/ api',
    ])
      expect(await code({ path }), path).to.equal('E_BAD_PATH');
  });

  async function nodeStatus(): Promise<Body> {
    return (await node.json('/api/status', { headers: { 'x-svc-key': KEY } })).body;
  }

  it('a node that stood still begins nothing whose caller has given up meanwhile', async () => {
    const [late, inTime] = await Promise.all([
      statement({ within_ms: 400 }),
      statement({ within_ms: NONCE_MS }),
    ]);
    const calls = await Promise.all([late, inTime].map(async (own) => signCall(caller, own)));
    process.kill(node.pid('svc-control'), 'SIGSTOP');
    const answers = Promise.all(calls.map(async (jws) => carry(jws)));
    await sleep(600);
    process.kill(node.pid('svc-control'), 'SIGCONT');
    const [refused, done] = await answers;
    expect([refused?.status, done?.status]).to.deep.equal([401, 200]);
    expect(refused?.body).to.include({ code: 'E_STALE' });
  });

  it('believes no forged, altered or foreign token, body or signature', async () => {
    const [foreign, elsewhere, thief] = await Promise.all([
      FleetHand.create('f-test'),
      FleetHand.create('f-other'),
      newSigner(),
    ]);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const past = Math.floor(Date.now() / 1000) - 1;
    /** Each by a caller of its own, since ten wrong ones lock a caller out. */
    const forged: Readonly<Record<string, (own: CallStatement, by: TestCaller) => Promise<string>>> = {
      'another body under the signature': async (own, by) => {
        const [good, other] = [await signCall(by, own), await signCall(by, { ...own, path: '/api/params' })];
        return mixed(good, other, good);
      },
      'another signature': async (own, by) => {
        const [good, other] = [await signCall(by, own), await signCall(by, { ...own, path: '/api/params' })];
        return mixed(good, good, other);
      },
      'no signature': async (own, by) => `${(await signCall(by, own)).split('.', 2).join('.')}.`,
      'a stolen token with a key of its own': async (own, { token }) =>
        signCall({ signer: thief, token }, own),
      'a token by itself': async (own, { id }) =>
        signCall({ signer: thief, token: await hand.token(thief, { sub: id }, thief) }, own),
      'no token': async (own) => signRaw(own, thief, { alg: 'Ed25519', typ: 'svc-call', kid: thief.kid }),
      'a node that calls a node': async (own) =>
        signRaw(own, nodeKey, { alg: 'Ed25519', typ: 'svc-call', kid: nodeKey.kid }),
      'another hub': async (own, { id }) => signCall(await foreign.caller({ sub: id }), own),
      'another fleet': async (own, { id }) => signCall(await elsewhere.caller({ sub: id }), own),
      'our hub for another fleet': async (own, { id }) =>
        signCall(await hand.caller({ sub: id, fleet: 'f-other' }), own),
      'another caller': async (own) => signCall(caller, own),
      'an expired token': async (own, { id }) => signCall(await hand.caller({ sub: id, exp: past }), own),
      'a credential for other nodes': async (own, { id }) =>
        signCall(await hand.caller({ sub: id, nodes: ['drone-2'] }), own),
      'another node': async (own, by) => signCall(by, { ...own, node: 'drone-2' }),
      'a member too many': async (own, { signer, token }) =>
        signRaw({ ...own, admin: true }, signer, { alg: 'Ed25519', typ: 'svc-call', kid: signer.kid, token }),
      'another statement': async (own, { signer, token }) =>
        signRaw(own, signer, { alg: 'Ed25519', typ: 'svc-confirm', kid: signer.kid, token }),
      'alg none': async (own, { token, signer }) =>
        `${base64url({ alg: 'none', typ: 'svc-call', kid: signer.kid, token })}.${base64url(own)}.`,
      'alg RS256': async (own, { signer, token }) =>
        new SignJWT({ ...own })
          .setProtectedHeader({ alg: 'RS256', typ: 'svc-call', kid: signer.kid, token })
          .sign(rsa),
    };
    for (const [index, [what, forge]] of Object.entries(forged).entries()) {
      const by = await hand.caller({ sub: `mc_forger${String(index).padStart(2, '0')}` });
      const reply = await carry(await forge(await statement(), by), by.id);
      const body = reply?.body as Body | undefined;
      expect([what, reply?.status, body?.['code']]).to.deep.equal([what, 401, 'E_UNAUTHENTICATED']);
    }
    expect(await carry('nothing')).to.equal(null);
    expect(await carry('a.b.c')).to.equal(null);
    expect(await code(), 'the honest one still counts').to.equal(200);
  });

  it('locks a caller out that goes on being wrong, and nobody else', async () => {
    const by = await hand.caller({ sub: 'mc_wrong0001', nodes: [] });
    const codes = new Set<unknown>();
    for (let count = 0; count < 12; count++) codes.add(await code({}, by));
    expect([...codes]).to.deep.equal(['E_UNAUTHENTICATED', 'E_LOCKED']);
    expect(await code()).to.equal(200);
  });

  it('is capped by the scopes of the token, and reads no secret', async () => {
    const reader = await hand.caller({ sub: 'mc_reader001', scopes: ['read', 'secret_read'] });
    expect(await code({}, reader)).to.equal(200);
    expect(
      await code({ method: 'PUT', path: '/api/config', body: { agent: { name: 'x' } } }, reader),
    ).to.equal('E_SCOPE');
    expect(await code({ path: '/api/v1/support-bundle' }, reader)).to.equal('E_FLEET_FORBIDDEN');
  });

  it('what the node does not let its fleet have is said, with the key and the command that mend it', async () => {
    const arm = { method: 'POST', path: '/api/command', body: { cmd: 'arm' } } as const;
    const capped = await TestNode.start({
      pairing: { key: KEY },
      config: `fleet:\n  scopes: [read, admin]\n  operators: ['alice ${operator.jwk.x}']\n  watched_hz: 2\n  pictures: false\n`,
      prepare: async (paths) => enrolByHand(paths, { node: NODE, hand, signer: nodeKey }),
    });
    const way = clientOf(FLEET, { path: capped.paths.fleetSocket });
    try {
      await way.connectOnce();
      await way.calls.policy({ jws: await hand.policy() });
      const own = { ...(await statement(arm)), nonce: (await way.calls.status({})).nonce };
      // Nor does it send more than its config says, whoever looks.
      const watched = await way.calls.watch({ jws: await hand.watch(NODE, own.nonce) });
      expect(watched).to.deep.equal({ telemetry_hz: 2, pictures_hz: 0, seconds: 10 });
      const jws = await signCall(caller, own, await signConfirm(operator, own, 'confirm'));
      const { reply } = await way.calls.call({ caller: caller.id, jws });
      const { status, body } = await readReply(reply ?? '', nodeKey.jwk);
      expect(status).to.equal(403);
      expect(body).to.deep.include({
        code: 'E_SCOPE',
        missing: ['flight'],
        capped: ['flight'],
        fleet_scopes: ['read', 'admin'],
      });
      // What it adds is what is missing, and nothing else.
      expect((body as Body)['detail']).to.equal(
        'This node does not let its fleet do that. Its config key fleet.scopes lacks flight. On the node: ' +
          'svc config set fleet.scopes read,admin,flight && svc services restart svc-control',
      );
      const reader = await hand.caller({ sub: 'mc_reader002', scopes: ['read'] });
      const told = await way.calls.call({
        caller: reader.id,
        jws: await signCall(reader, { ...own, jti: newJti() }),
      });
      const denied = (await readReply(told.reply ?? '', nodeKey.jwk)).body as Body;
      expect(denied['detail'], 'it is the token that lacks it').to.include('The token lacks flight');
      expect(denied).to.not.have.property('capped');
    } finally {
      way.stop();
      await capped.stop();
    }
  });

  it('carries nothing that needs the key, a browser, a person nearby or another node', async () => {
    const rows: readonly (readonly [CallStatement['method'], string])[] = [
      ['POST', '/api/mcp/tokens'],
      ['POST', '/api/_ws/ticket'],
      ['POST', '/api/pairing/unpair'],
      ['POST', '/api/pairing/claim'],
      ['POST', '/api/dashboard/pin/verify'],
      ['POST', '/api/fleet/enroll'],
      ['GET', '/api/fleet'],
      ['GET', '/api/v1/ground-station/pic'],
      ['POST', '/api/v1/ground-station/pic/claim'],
      ['GET', '/api/v1/ground-station/relay-proxy/drone-2/api/status'],
    ];
    for (const [method, path] of rows) {
      const body = method === 'GET' ? {} : { body: {} };
      expect([path, await code({ method, path, ...body })]).to.deep.equal([path, 'E_FLEET_FORBIDDEN']);
    }
  });

  it('takes authority away: revokes tokens, and unbinds a radio only with a confirmation', async () => {
    expect(await code({ method: 'POST', path: '/api/mcp/revoke', body: { all: true } })).to.be.oneOf([
      200,
      'E_INVALID_VALUE',
    ]);
    expect(await code({ method: 'DELETE', path: '/api/wfb/pair' })).to.equal('E_CONFIRM');
    expect(await code({ method: 'DELETE', path: '/api/fleet/enrollment' })).to.equal('E_CONFIRM');
  });

  it('flies only with the confirmation of an operator whom the node lists, for exactly this call', async () => {
    const arm = { method: 'POST', path: '/api/command', body: { cmd: 'arm' } } as const;
    const kill = { ...arm, body: { cmd: 'killSwitch' } } as const;
    expect(await code(arm)).to.equal('E_CONFIRM');
    const stranger = await newSigner();
    const own = await statement(arm);
    const later = { ...own, jti: newJti() };
    const wrong: Readonly<Record<string, string>> = {
      'a stranger': await signConfirm(stranger, own, 'confirm'),
      'the caller itself': await signConfirm(caller.signer, own, 'confirm'),
      'another body': await signConfirm(operator, { ...own, body: { cmd: 'disarm' } }, 'confirm'),
      'another path': await signConfirm(operator, { ...own, path: '/api/mission' }, 'confirm'),
      'another node': await signConfirm(operator, { ...own, node: 'drone-2' }, 'confirm'),
      'another call': await signConfirm(operator, later, 'confirm'),
    };
    for (const [what, confirm] of Object.entries(wrong)) {
      const reply = await carry(await signCall(caller, own, confirm));
      expect([what, reply?.status, codeOf(reply)]).to.deep.equal([what, 403, 'E_CONFIRM']);
    }
    const right = await carry(await signCall(caller, later, wrong['another call']));
    expect(right?.status, JSON.stringify(right?.body)).to.equal(200);
    // Word by word under a token of somebody else's own: a confirmation is for one call of one caller.
    const twice = await hand.caller({ sub: 'mc_repeater01' });
    const repeated = await carry(await signCall(twice, later, wrong['another call']), twice.id);
    expect([repeated?.status, codeOf(repeated)]).to.deep.equal([403, 'E_CONFIRM']);
    // To stand by is not enough for what destroys.
    const end = await statement(kill);
    const held = await carry(await signCall(caller, end, await signConfirm(operator, end, 'hold')));
    expect(codeOf(held)).to.equal('E_CONFIRM');
    const again = await statement(kill);
    const asked = await carry(await signCall(caller, again, await signConfirm(operator, again, 'confirm')));
    expect(codeOf(asked), JSON.stringify(asked?.body)).not.to.equal('E_CONFIRM');
  });

  it('runs a repeated call once, however often and whenever it comes, and answers each time', async () => {
    const own = await statement({ method: 'POST', path: '/api/command', body: { cmd: 'disarm' } });
    const jws = await signCall(caller, own, await signConfirm(operator, own, 'hold'));
    const replies = await Promise.all([carry(jws), carry(jws), carry(jws)]);
    replies.push(await carry(jws));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).to.equal(1);
    expect(replies[0]?.jti).to.equal(own.jti);
    // The audit is written in order, so what came before the next call is there with it.
    const next = await statement({ method: 'POST', path: '/api/command', body: { cmd: 'arm' } });
    await carry(await signCall(caller, next, await signConfirm(operator, next, 'confirm')));
    const disarmed = (line: string): boolean => line.includes('"disarm"') && line.includes('announced');
    let lines: string[];
    do lines = (await audited()).filter((line) => line.includes('"fleet:mc_caller001/alice"'));
    while (lines.filter((line) => line.includes('"arm"')).length < 2);
    expect(lines.filter(disarmed)).to.have.length(1);
  });

  async function audited(): Promise<string[]> {
    const files = (await readdir(node.paths.auditDir)).filter((name) => name.endsWith('.ndjson'));
    const texts = await Promise.all(
      files.map(async (name) => readFile(join(node.paths.auditDir, name), 'utf8')),
    );
    return texts.flatMap((text) => text.split('\n')).filter((line) => line.includes('/api/command'));
  }

  it('says of a call of another run of the node that its outcome is not known, and runs nothing', async () => {
    const [boot = ''] = (await nonce()).split('.');
    for (const past of ['AAAAAAAAAAAAAAAA.0', `${boot}.99999`])
      expect(await code({ nonce: past })).to.equal('E_OUTCOME_UNKNOWN');
    const [status, body] = await ask({ nonce: 'AAAAAAAAAAAAAAAA.0' });
    expect([status, body['nonce']]).to.deep.equal([409, await nonce()]);
  });

  it('takes only newer policies, signed by a key that it trusts; a revoked credential ends at once', async () => {
    const thief = await newSigner();
    const second = await newSigner();
    const refused = async (jws: string): Promise<unknown> =>
      carrier.calls.policy({ jws }).then(
        () => null,
        (error: unknown) => (error as { code?: unknown }).code,
      );
    expect(await refused(await hand.policy({ seq: 9, keys: [thief.jwk] }, thief))).to.equal(
      'E_INVALID_VALUE',
    );
    expect(await refused(await hand.policy({ seq: 9, fleet: 'f-other' }))).to.equal('E_INVALID_VALUE');
    expect(await refused('a.b.c')).to.equal('E_INVALID_VALUE');
    const gone = await hand.caller({ sub: 'mc_revoked01' });
    expect(await code({}, gone)).to.equal(200);
    const keys = [hand.hub.jwk, second.jwk];
    expect(await refused(await hand.policy({ seq: 5, keys, revoked: [gone.id] }))).to.equal(null);
    expect(await code({}, gone)).to.equal('E_UNAUTHENTICATED');
    expect(await refused(await hand.policy({ seq: 4 })), 'an older one').to.equal('E_INVALID_VALUE');
    // The new key counts now, and may sign the old one away.
    expect(await refused(await hand.policy({ seq: 6, keys: [second.jwk] }, second))).to.equal(null);
    expect(await code()).to.equal('E_UNAUTHENTICATED');
    expect(await refused(await hand.policy({ seq: 7 }))).to.equal('E_INVALID_VALUE');
    expect(await refused(await hand.policy({ seq: 7, keys: [hand.hub.jwk] }, second))).to.equal(null);
    expect(await code()).to.equal(200);
  });

  it('believes no acknowledgement that the hub has not signed for this node', async () => {
    const ack = async (jws: string): Promise<unknown> =>
      carrier.calls.ack({ jws }).catch((error: unknown) => (error as { code?: unknown }).code);
    expect(await ack(await hand.ack(NODE, 'stream-1', 7))).to.deep.equal({ stream: 'stream-1', seq: 7 });
    expect(await ack(await hand.ack('drone-2', 'stream-1', 7))).to.equal('E_INVALID_VALUE');
    expect(await ack(await hand.ack(NODE, 'stream-1', 7, caller.signer))).to.equal('E_INVALID_VALUE');
  });

  it('believes that somebody looks only from the hub, for this node, now, and each word of it once', async () => {
    const watch = async (jws: string): Promise<unknown> =>
      carrier.calls.watch({ jws }).catch((error: unknown) => (error as { code?: unknown }).code);
    const now = await nonce();
    const [boot = ''] = now.split('.');
    const good = await hand.watch(NODE, now);
    // As far as the config lets it: fleet.watched_hz.
    expect(await watch(good)).to.deep.equal({ telemetry_hz: 5, pictures_hz: 5, seconds: 10 });
    const elsewhere = await FleetHand.create('f-test');
    const wrong: Readonly<Record<string, string>> = {
      'a replay': good,
      'another node': await hand.watch('drone-2', now),
      'another boot': await hand.watch(NODE, 'AAAAAAAAAAAAAAAA.0'),
      'a nonce to come': await hand.watch(NODE, `${boot}.99999`),
      'a caller': await hand.watch(NODE, now, {}, caller.signer),
      'an operator': await hand.watch(NODE, now, {}, operator),
      'the node itself': await hand.watch(NODE, now, {}, nodeKey),
      'another hub': await elsewhere.watch(NODE, now),
      'another statement': await hand.ack(NODE, 'stream-1', 7),
      'too often': await hand.watch(NODE, now, { telemetry_hz: 1000 }),
      'too long': await hand.watch(NODE, now, { seconds: 86_400 }),
      'another signature': mixed(good, await hand.watch(NODE, now), good),
      nothing: 'a.b.c',
    };
    for (const [what, jws] of Object.entries(wrong))
      expect([what, await watch(jws)]).to.deep.equal([what, 'E_INVALID_VALUE']);
    expect(await watch(await hand.watch(NODE, now, { telemetry_hz: 2, pictures_hz: 0 }))).to.deep.equal({
      telemetry_hz: 2,
      pictures_hz: 0,
      seconds: 10,
    });
  });

  it('judges the call of a person as that of a machine: their token flies nothing without an operator', async () => {
    const person = await hand.caller({ sub: 'op_0123456789abcdef' });
    const arm = { method: 'POST', path: '/api/command', body: { cmd: 'arm' } } as const;
    expect(await code({}, person)).to.equal(200);
    expect(await code(arm, person)).to.equal('E_CONFIRM');
    const own = await statement(arm);
    // The key of the session is no key of an operator, whoever holds both.
    expect(await code(own, person, await signConfirm(person.signer, own, 'hold'))).to.equal('E_CONFIRM');
    const again = await statement(arm);
    expect(await code(again, person, await signConfirm(operator, again, 'hold'))).to.equal(200);
    const gone = await hand.policy({ seq: 8, revoked: [person.id] });
    await carrier.calls.policy({ jws: gone });
    expect(await code({}, person)).to.equal('E_UNAUTHENTICATED');
  });

  it('ends with the pairing', async () => {
    const unpaired = await node.post('/api/pairing/unpair', { force: true }, { 'x-svc-key': KEY });
    expect(unpaired.status, JSON.stringify(unpaired.body)).to.equal(200);
    expect(await code()).to.equal('E_UNPAIRED');
  });
});

function codeOf(reply: Reply | null): unknown {
  return (reply?.body as Body | undefined)?.['code'];
}

function mixed(head: string, payload: string, signature: string): string {
  return [head.split('.')[0], payload.split('.')[1], signature.split('.')[2]].join('.');
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function signRaw(
  payload: object,
  { key }: Signer,
  header: { readonly alg: string; readonly typ: string; readonly kid: string; readonly token?: string },
): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader(header)
    .sign(key);
}
