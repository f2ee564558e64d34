import { expect } from 'chai';
import { Confirmations } from '../../front/control/stores/confirmations.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { refusal } from '../support/refusal.ts';

const HASH = 'a'.repeat(64);
const CALL = {
  tool: 'flight_goto',
  args: { lat: 48, lon: 11 },
  place: { lat: 48, lon: 11 },
  call_hash: HASH,
};
const KEYED = { 'x-svc-key': KEY };
const PIN = '7531';

const token = (id: string): Principal => ({ kind: 'token', id, scopes: ['read', 'flight'] });
const person: Principal = { kind: 'session', id: 'session:1', scopes: null };

/** A store whose time and whose principals a test moves. */
class Held {
  now = 0;
  readonly ended = new Set<string>();
  readonly store = new Confirmations({
    monotonic: () => this.now,
    labelOf: (id) => (id === 'a' ? 'lap\u202etop' : ''),
    holds:
      ({ id }) =>
      () =>
        !this.ended.has(id),
  });
}

describe('calls that wait for a person at the node', () => {
  it('one is signed by a person for what was looked at, and used once, by who asked', async () => {
    const { store } = new Held();
    const { code, state, expires_in_s } = store.file(CALL, token('a'));
    expect([state, expires_in_s]).to.deep.equal(['waiting', 120]);
    const code1 = await refusal((async () => store.use(code, HASH, token('a')))());
    expect(code1.code, 'unsigned').to.equal('E_CONFIRM');
    const other = await refusal(
      (async () => store.sign(code, { agree: true, call_hash: 'b'.repeat(64) }, person))(),
    );
    expect(other.code, 'another call').to.equal('E_CONFIRM');
    expect(store.sign(code, { agree: true, call_hash: HASH }, person).state).to.equal('signed');
    const again = await refusal((async () => store.sign(code, { agree: false, call_hash: HASH }, person))());
    expect(again.code, 'answered').to.equal('E_BUSY');
    const foreign = await refusal((async () => store.use(code, HASH, token('b')))());
    expect(foreign.code, "another's").to.equal('E_NOT_FOUND');
    const wrong = await refusal((async () => store.use(code, 'b'.repeat(64), token('a')))());
    expect(wrong.code, 'for another call').to.equal('E_CONFIRM');
    expect(store.use(code, HASH, token('a'))).to.deep.equal({ signed_by: 'session:1' });
    expect((await refusal((async () => store.use(code, HASH, token('a')))())).code, 'twice').to.equal(
      'E_NOT_FOUND',
    );
  });

  it('one that was refused is never used', async () => {
    const { store } = new Held();
    const { code } = store.file(CALL, token('a'));
    expect(store.sign(code, { agree: false, call_hash: HASH }, person).state).to.equal('refused');
    expect((await refusal((async () => store.use(code, HASH, token('a')))())).code).to.equal('E_CONFIRM');
  });

  it('ends after 2 minutes, a signature after one, and both with who asked or signed', async () => {
    const held = new Held();
    const gone = async (code: string): Promise<void> => {
      expect((await refusal((async () => held.store.get(code, person))())).code).to.equal('E_NOT_FOUND');
    };
    const waiting = held.store.file(CALL, token('a')).code;
    held.now = 119_999;
    held.store.get(waiting, person);
    held.now = 120_000;
    await gone(waiting);
    const signed = held.store.file(CALL, token('a')).code;
    held.store.sign(signed, { agree: true, call_hash: HASH }, person);
    held.now += 60_000;
    await gone(signed);
    const [asked, lost] = ['a', 'b'].map((id) => held.store.file(CALL, token(id)).code);
    held.store.sign(lost ?? '', { agree: true, call_hash: HASH }, person);
    held.ended.add('a');
    await gone(asked ?? '');
    held.ended.add('session:1');
    expect(held.store.list({ kind: 'key', id: 'pairing-key', scopes: null })).to.deep.equal([]);
  });

  it('are four for each asker and 32 in all; nobody pushes out another', async () => {
    const { store } = new Held();
    const first = Array.from({ length: 5 }, () => store.file(CALL, token('a')).code);
    expect(store.list(token('a')).map(({ code }) => code)).to.deep.equal(first.slice(1).toReversed());
    for (let asker = 0; asker < 7; asker++)
      for (let count = 0; count < 4; count++) store.file(CALL, token(`t${asker}`));
    const full = await refusal((async () => store.file(CALL, token('late')))());
    expect(full.code).to.equal('E_RATE_LIMITED');
    store.file(CALL, token('a'));
    expect(store.list(person)).to.have.length(32);
    expect(store.list(token('late'))).to.deep.equal([]);
  });

  it('show foreign words as plain text', () => {
    const { store } = new Held();
    const summary = 'one\n\u001b[2Jtwo\u202e';
    const shown = store.file({ ...CALL, args: { name: 'x\u202ey\u0007' }, summary }, token('a'));
    expect(shown.summary).to.equal('one\n [2Jtwo ');
    expect(shown.asked_by).to.equal('lap top (a)');
    expect(shown.args).to.not.include('\u202e');
  });

  it('at the node: a token asks and uses, and signs nothing, whatever it holds; a session signs', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'mcp:\n  token_accept_enabled: true\n',
    });
    try {
      const mint = async (...scopes: string[]): Promise<Record<string, string>> => {
        const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'ai' }, KEYED);
        return { 'x-svc-mcp-token': String(body['token']) };
      };
      const all = await mint('read', 'safe_write', 'admin', 'flight', 'destructive');
      const other = await mint('read', 'flight');
      const reader = await mint('read');
      expect((await node.post('/api/confirmations', CALL, reader)).body['code']).to.equal('E_SCOPE');
      const filed = await node.post('/api/confirmations', CALL, all);
      const code = String(filed.body['code']);
      expect(filed.body['page']).to.equal(`/#/access/confirm/${code}`);
      const at = `/api/confirmations/${code}`;
      const answer = { agree: true, call_hash: HASH };
      const own = await node.post(`${at}/sign`, answer, all);
      expect([own.status, own.body['code']]).to.deep.equal([403, 'E_SCOPE']);
      expect((await node.json(at, { headers: other })).status, "another token's").to.equal(404);
      expect((await node.post(`${at}/use`, { call_hash: HASH }, all)).body['code']).to.equal('E_CONFIRM');
      await node.post('/api/dashboard/pin/set', { pin: PIN }, KEYED);
      const { body } = await node.post('/api/dashboard/pin/verify', { pin: PIN });
      const session = { 'x-svc-dashboard-session': String(body['session']) };
      const seen = await node.json('/api/confirmations', { headers: session });
      expect(seen.body['confirmations']).to.have.length(1);
      expect((await node.post(`${at}/sign`, answer, session)).body['state']).to.equal('signed');
      expect((await node.post(`${at}/use`, { call_hash: HASH }, other)).status).to.equal(404);
      const used = await node.post(`${at}/use`, { call_hash: HASH }, all);
      expect(String(used.body['signed_by'])).to.match(/^session:/);
      expect((await node.post(`${at}/use`, { call_hash: HASH }, all)).status).to.equal(404);
      const relayed = { ...session, 'x-svc-relayed': '1' };
      expect((await node.post(`${at}/sign`, answer, relayed)).body['code']).to.equal('E_RELAY_FORBIDDEN');
    } finally {
      await node.stop();
    }
  });
});
