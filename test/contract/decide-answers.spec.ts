import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import type {
  CredentialChecks,
  EdgeState,
  FleetCredential,
  Peer,
} from '../../front/control/edge/decision.ts';
import { mayHaveReadTicket } from '../../front/control/edge/read-ticket-right.ts';
import { ticketScope } from '../../front/control/edge/rules/credential.ts';
import { settle } from '../../front/control/edge/settle.ts';
import { ANONYMOUS, LOCAL_SOCKET, PAIRING_KEY, type Principal } from '../../shared/auth/principal.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, head, judge, KEY, trusting, withKey } from '../support/edge.ts';

const UNPAIRED = edgeState({ pairing: { paired: false, keyHash: null } });
const ORIGIN = ['Origin', 'http://evil.example'] as const;

/** What of an answer is for programs. */
function told(ask: Ask, state?: EdgeState, body?: unknown) {
  const answer = judge(ask, state, body);
  if (answer.kind !== 'refuse') return answer;
  const { rule, code, row, headers, principal, extras } = answer;
  return { rule, code, row: row?.id ?? null, headers, by: principal.id, extras };
}
const refusal = (rule: string, code: string, row: string | null, more: object = {}) => ({
  rule,
  code,
  row,
  headers: {},
  by: ANONYMOUS.id,
  extras: {},
  ...more,
});
const STATUS = 'status.get';

describe('a refusal says by which step, of which row, to whom, and what helps', () => {
  const status: Ask = { target: '/api/status' };
  it('target and origin', () => {
    expect(told({ target: '//x' })).to.deep.equal(refusal('target', 'E_BAD_PATH', null));
    expect(judge({ target: '//x' }))
      .to.have.property('detail')
      .that.matches(/^Ambiguous request target: \S.+\.$/);
    expect(told({ ...status, headers: [['Host', 'a b']] })).to.deep.equal(
      refusal('target', 'E_BAD_REQUEST', null),
    );
    const asks = [['Access-Control-Request-Method', 'GET'] as const];
    expect(told({ ...status, method: 'OPTIONS', headers: [ORIGIN, ...asks] })).to.deep.equal(
      refusal('cors', 'E_ORIGIN', null),
    );
    const allowed = ['Origin', 'http://localhost:4000'] as const;
    expect(told({ ...status, method: 'OPTIONS', headers: [allowed, ...asks] })).to.include({
      kind: 'preflight',
      rule: 'cors',
    });
    const script = ['Service-Worker', 'script'] as const;
    expect(told({ ...status, headers: [script] })).to.deep.equal(refusal('cors', 'E_ORIGIN', STATUS));
    // OPTIONS of another kind, and another method with the header of a preflight, are ordinary requests.
    for (const ask of [
      { method: 'OPTIONS', headers: [allowed] },
      { method: 'OPTIONS', headers: asks },
      { method: 'GET', headers: [allowed, ...asks] },
    ])
      expect(told({ ...status, ...ask })).to.include({ code: 'E_UNAUTHENTICATED' });
    expect(told({ target: '/api/telemetry/ws', upgrade: true, headers: [withKey, ORIGIN] })).to.deep.equal(
      refusal('cors', 'E_ORIGIN', null),
    );
  });

  it('relay, public, rate and credential', () => {
    const relayed = ['x-svc-relayed', '1'] as const;
    expect(
      told({ method: 'POST', target: '/api/pairing/unpair', headers: [withKey, relayed] }),
    ).to.deep.equal(refusal('relay', 'E_RELAY_FORBIDDEN', 'pairing.unpair.post'));
    expect(told({ target: '/api/pairing/code', from: 'remote' })).to.include({
      rule: 'public',
      code: 'E_REMOTE',
      row: 'pairing.code.get',
    });
    expect(told({ target: '/healthz' })).to.include({
      kind: 'pass',
      rule: 'public',
      counted: false,
      principal: ANONYMOUS,
    });
    expect(told({ target: '/healthz', headers: [withKey] })).to.include({ principal: PAIRING_KEY });
    // RFC 6750 3: where a token comes as a bearer, the refusal says so.
    expect(told({ method: 'POST', target: '/whep' })).to.deep.equal(
      refusal('credential', 'E_UNAUTHENTICATED', 'whep.post', { headers: { 'www-authenticate': 'Bearer' } }),
    );
    expect(told({ ...status, limitedFor: 2 })).to.deep.equal(
      refusal('rate', 'E_RATE_LIMITED', STATUS, { headers: { 'retry-after': '2' } }),
    );
    expect(told(status)).to.deep.equal(refusal('credential', 'E_UNAUTHENTICATED', STATUS));
    expect(told({ ...status, headers: [withKey] })).to.include({
      kind: 'pass',
      rule: 'credential',
      principal: PAIRING_KEY,
    });
    const onBox = { target: '/api/mcp/status', from: 'loopback', headers: [ORIGIN] } as const;
    expect(told(onBox)).to.deep.equal(refusal('cors', 'E_ORIGIN', 'mcp.status.get'));
    expect(told({ ...onBox, target: '/api/status' })).to.deep.equal(
      refusal('credential', 'E_UNAUTHENTICATED', STATUS),
    );
  });

  it('row: no path, another method, a WebSocket', () => {
    const by = { by: PAIRING_KEY.id };
    const headers = [withKey];
    expect(told({ target: '/api/nope', headers })).to.deep.equal(refusal('row', 'E_NOT_FOUND', null, by));
    expect(told({ target: '/api/status', method: 'POST', headers })).to.deep.equal(
      refusal('row', 'E_METHOD', null, { ...by, headers: { allow: 'GET, HEAD' } }),
    );
    expect(told({ target: '/api/status', method: 'TRACE', headers })).to.include({ code: 'E_METHOD' });
    expect(told({ target: '/api/telemetry/ws', headers })).to.deep.equal(
      refusal('row', 'E_UPGRADE', null, { ...by, headers: { upgrade: 'websocket' } }),
    );
    expect(told({ target: '/api/telemetry/ws', method: 'POST', headers })).to.deep.equal(
      refusal('row', 'E_METHOD', null, { ...by, headers: { allow: '' } }),
    );
    expect(told({ target: '/api/telemetry/ws', method: 'POST', upgrade: true, headers })).to.include({
      code: 'E_METHOD',
    });
  });

  it('scope, root and what the body has wrong', () => {
    const as = (...scopes: readonly Scope[]) =>
      edgeState({ credentials: { ...trusting(scopes), session: () => null } });
    const token = [['x-svc-mcp-token', 't'] as const];
    expect(
      told({ method: 'POST', target: '/api/command', headers: token }, as(), { cmd: 'land' }),
    ).to.deep.equal(
      refusal('scope', 'E_SCOPE', 'command.post', {
        by: 'token',
        extras: { required: 'flight', missing: ['flight'], granted: [] },
      }),
    );
    expect(
      told({ method: 'PUT', target: '/api/config', headers: token }, as('admin'), {
        key: 'mavlink.endpoints',
        value: [],
      }),
    ).to.deep.include({
      rule: 'scope',
      code: 'E_SCOPE',
      extras: { required: 'keyonly', missing: ['keyonly'], granted: ['admin'] },
    });
    const errors = [{ path: '/cmd', message: 'is missing' }];
    const wrong = edgeState({ validate: () => errors });
    const post = { method: 'POST', target: '/api/command', headers: [withKey] } as const;
    expect(told(post, wrong, {})).to.deep.equal(
      refusal('body', 'E_INVALID_VALUE', 'command.post', { by: PAIRING_KEY.id, extras: { errors } }),
    );
    expect(judge(post, wrong, {})).to.include({ detail: 'cmd is missing.' });
    const whole = edgeState({ validate: () => [{ path: '', message: 'is no object' }] });
    expect(judge(post, whole, {})).to.include({ detail: 'The body is no object.' });
    expect(told(post, edgeState({ validate: () => [] }), {})).to.include({ code: 'E_INVALID_VALUE' });
    const off = edgeState({ features: new Set() });
    expect(told(post, off, {})).to.deep.include({
      rule: 'feature',
      code: 'E_NOT_IMPLEMENTED',
      row: 'command.post',
      by: PAIRING_KEY.id,
    });
  });
});

describe('what the body decides', () => {
  const put: Ask = { method: 'PUT', target: '/api/config', headers: [withKey] };
  const by = { by: PAIRING_KEY.id };
  const session: Ask['headers'] = [['x-svc-dashboard-session', 's']];
  const opened = edgeState({ credentials: { ...trusting(['admin']), token: () => null } });

  it("what is root's is refused to the key too; what is the key's, to a session", () => {
    const root = { key: 'mcp.token_accept_enabled', value: true };
    expect(told(put, edgeState(), root)).to.deep.equal(refusal('scope', 'E_ROOT_ONLY', 'config.put', by));
    const keyonly = { key: 'mavlink.endpoints', value: [] };
    expect(told(put, edgeState(), keyonly)).to.include({ kind: 'pass' });
    expect(told({ ...put, headers: session }, opened, keyonly)).to.deep.include({
      rule: 'scope',
      code: 'E_SCOPE',
    });
    expect(told({ ...put, headers: session }, opened, { key: 'agent.name', value: 'x' })).to.include({
      kind: 'pass',
    });
  });

  it('what flies is for the pilot in command; what ends a flight, and what does not fly, is for all', () => {
    const pilot = edgeState({ pilot: { otherThan: (client) => (client === 'tablet' ? null : 'tablet') } });
    const command: Ask = { method: 'POST', target: '/api/command', headers: [withKey] };
    const not = (row: string) =>
      refusal('pilot', 'E_NOT_PIC', row, { ...by, extras: { claimed_by: 'tablet' } });
    expect(told(command, pilot, { cmd: 'arm' })).to.deep.equal(not('command.post'));
    expect(told(command, pilot, { cmd: 7 })).to.deep.equal(not('command.post'));
    for (const cmd of ['land', 'rtl', 'stop', 'disarm'])
      expect(told(command, pilot, { cmd }), cmd).to.include({ kind: 'pass' });
    const tablet = { ...command, headers: [withKey, ['x-svc-client-id', 'tablet'] as const] };
    expect(told(tablet, pilot, { cmd: 'arm' })).to.include({ kind: 'pass', clientId: 'tablet' });
    expect(told(command, edgeState(), { cmd: 'arm' }), 'no such rule here').to.include({ kind: 'pass' });
    const param: Ask = { method: 'POST', target: '/api/params/RTL_ALT', headers: [withKey] };
    expect(told(param, pilot, { value: 1, cmd: 'land' })).to.deep.equal(not('params.name.post'));
    expect(told(put, pilot, { key: 'agent.name', value: 'x' })).to.include({ kind: 'pass' });
    // A socket of our own judges each frame when it comes.
    expect(told({ target: '/api/mavlink/ws', upgrade: true, headers: [withKey] }, pilot)).to.include({
      kind: 'pass',
    });
  });

  it('the armed guard says what was asked, in which state, and how it is overridden', () => {
    const param: Ask = { method: 'POST', target: '/api/params/RTL_ALT', headers: [withKey] };
    for (const armed of [true, 'unknown'] as const) {
      const answer = told(param, edgeState({ armed }), { value: 1 });
      expect(answer).to.deep.include({
        rule: 'armed',
        code: 'E_ARMED',
        row: 'params.name.post',
        by: PAIRING_KEY.id,
      });
      expect(answer)
        .to.have.property('extras')
        .that.deep.includes({ armed, override: { body: { force: true }, query: 'force=1' } });
      expect(told(param, edgeState({ armed }), { value: 1, force: true })).to.include({
        kind: 'pass',
        forced: true,
      });
      expect(told(put, edgeState({ armed }), { key: 'agent.name', value: 'x' })).to.include({
        kind: 'pass',
        forced: false,
      });
    }
    expect(told(param, edgeState(), { value: 1 })).to.include({ kind: 'pass', forced: false });
    expect(told(param, edgeState(), { value: 1, force: true }), 'needless').to.include({
      kind: 'pass',
      forced: true,
    });
  });

  it('through the relay the drone judges its own vehicle and body; the pilot is judged here', () => {
    const through: Ask = {
      method: 'POST',
      target: '/api/v1/ground-station/relay-proxy/d1/api/params/RTL_ALT',
      headers: [withKey],
    };
    const ground = edgeState({
      armed: true,
      profile: 'ground-station',
      features: new Set(FEATURES),
      validate: () => [{ path: '/x', message: 'is wrong' }],
    });
    expect(told(through, ground, { value: 1 })).to.include({ kind: 'pass', forced: false });
    expect(told(through, ground, { value: 1, force: true })).to.include({ kind: 'pass', forced: true });
    const flown = { ...ground, pilot: { otherThan: () => 'tablet' } };
    expect(told(through, flown, { value: 1 })).to.include({ code: 'E_NOT_PIC' });
    const socket: Ask = {
      target: '/api/v1/ground-station/relay-proxy/d1/api/mavlink/ws',
      upgrade: true,
      headers: [withKey],
    };
    expect(told(socket, flown)).to.include({ code: 'E_NOT_PIC' });
  });

  it('force is asked for where something is guarded; elsewhere the word means nothing', () => {
    const reader = edgeState({ credentials: { ...trusting(['read']), session: () => null } });
    const token: Ask['headers'] = [['x-svc-mcp-token', 't']];
    expect(told({ target: '/api/status?force=1', headers: token }, reader)).to.include({
      kind: 'pass',
      forced: false,
    });
  });

  it('body and query of every row are checked', () => {
    const strict = edgeState({ validate: () => [{ path: '', message: 'is odd' }] });
    const asked = (ask: Ask) => {
      const answer = judge({ ...ask, headers: [withKey] }, strict);
      return answer.kind === 'refuse' ? answer.detail : answer.kind;
    };
    const queried = (ROWS as readonly Row[]).find(
      ({ method, query, path }) => method === 'GET' && query !== null && !path.includes('{'),
    );
    expect(asked({ target: queried?.path ?? '' })).to.equal('The query is odd.');
    expect(asked({ target: '/api/ping' })).to.equal('The query is odd.');
    expect(asked({ target: '/healthz' })).to.equal('The query is odd.');
  });

  it('a method that no row knows is none, also where a row takes any of them', () => {
    const any = { target: '/api/plugins/com.example.a/x/a', headers: [withKey] };
    expect(told({ ...any, method: 'PATCH' })).to.include({ kind: 'pass' });
    for (const method of ['TRACE', 'CONNECT', 'get'])
      expect(told({ ...any, method })).to.deep.include({
        code: 'E_METHOD',
        headers: { allow: 'GET, POST, PUT, PATCH, DELETE, HEAD' },
      });
  });

  it('says what is missing on this node: a feature, a process', () => {
    const post: Ask = { method: 'POST', target: '/api/command', headers: [withKey] };
    expect(told(post, edgeState({ features: new Set() }), {})).to.deep.include({
      extras: { feature: 'flight', profile: 'drone' },
    });
    const video: Ask = { target: '/api/video', headers: [withKey] };
    expect(told(video, edgeState({ residual: false }))).to.deep.include({
      rule: 'feature',
      code: 'E_NOT_IMPLEMENTED',
      extras: { feature: 'video', profile: 'drone' },
    });
  });
});

describe('before there is an owner', () => {
  const own = ['Host', '127.0.0.1:8080'] as const;
  const at = (more: Partial<Ask>): Ask => ({
    target: '/api/status',
    headers: [own],
    from: 'loopback',
    ...more,
  });

  it('who comes over the radio hears what is missing; who is far is refused', () => {
    expect(told(at({ ground: 'gs-1' }), UNPAIRED)).to.deep.equal(refusal('unpaired', 'E_UNPAIRED', STATUS));
    expect(told(at({ from: 'remote' }), UNPAIRED)).to.deep.equal(refusal('unpaired', 'E_REMOTE', STATUS));
    const proxied = { headers: [own, ['Forwarded', 'for=1'] as const] };
    expect(told(at(proxied), UNPAIRED), 'a proxy on this machine').to.include({ code: 'E_REMOTE' });
    expect(
      told(at({ ...proxied, from: 'hotspot' }), UNPAIRED),
      'a header takes nothing away here',
    ).to.include({ kind: 'pass' });
    expect(told(at({ from: 'lan' }), UNPAIRED)).to.deep.equal(refusal('unpaired', 'E_UNPAIRED', STATUS));
    expect(told(at({ headers: [['Host', 'evil.example']] }), UNPAIRED)).to.deep.equal(
      refusal('unpaired', 'E_ORIGIN', STATUS),
    );
  });

  it('a page of another origin reads, and changes nothing', () => {
    const foreign = { headers: [own, ORIGIN] };
    for (const method of ['GET', 'HEAD'])
      expect(told(at({ ...foreign, method }), UNPAIRED)).to.include({ kind: 'pass' });
    const claim = { method: 'POST', target: '/api/pairing/claim' };
    expect(told(at({ ...foreign, ...claim }), UNPAIRED)).to.deep.equal(
      refusal('unpaired', 'E_ORIGIN', 'pairing.claim.post'),
    );
    expect(told(at(claim), UNPAIRED)).to.include({ kind: 'pass', rule: 'public' });
  });

  it('a caller nearby is let in by the gate; what only a key may do, on this machine alone', () => {
    for (const from of ['loopback', 'hotspot', 'usb'] as const)
      expect(told(at({ from }), UNPAIRED)).to.deep.include({
        kind: 'pass',
        principal: { kind: 'gate', id: `unpaired:${from}`, scopes: null },
      });
    const clear = { method: 'POST', target: '/api/dashboard/pin/clear' };
    expect(told(at({ ...clear, from: 'hotspot' }), UNPAIRED)).to.deep.equal(
      refusal('unpaired', 'E_UNPAIRED', 'dashboard.pin.clear.post'),
    );
    expect(told(at(clear), UNPAIRED)).to.include({ kind: 'pass' });
    expect(told(at({ target: '/healthz', from: 'hotspot' }), UNPAIRED)).to.deep.include({
      principal: { kind: 'gate', id: 'unpaired:hotspot', scopes: null },
    });
    expect(told(at({ target: '/healthz', from: 'remote' }), UNPAIRED)).to.deep.include({
      principal: ANONYMOUS,
    });
    expect(told(at({ unix: true }), UNPAIRED)).to.include({ kind: 'pass', principal: LOCAL_SOCKET });
    expect(told(at({ unix: true, headers: [own, ['x-svc-extension', '']] }), UNPAIRED)).to.deep.equal(
      refusal('credential', 'E_UNAUTHENTICATED', STATUS),
    );
    expect(
      told(at({ unix: true, headers: [own, ['x-svc-extension', 'com.example.a']] }), UNPAIRED),
    ).to.deep.include({ by: 'extension:com.example.a' });
  });

  it('from the LAN a session is needed, and counts as failed where it is none', () => {
    const session: Principal = { kind: 'session', id: 's', scopes: null };
    const credentials: CredentialChecks = {
      ...trusting(),
      session: (value) => (value === 'good' ? session : null),
    };
    const state = { ...UNPAIRED, credentials };
    const lan = (value: string | null, more: Partial<Ask> = {}) =>
      judge(
        at({
          from: 'lan',
          headers: [own, ...(value === null ? [] : [['x-svc-dashboard-session', value] as const])],
          ...more,
        }),
        state,
      );
    expect(lan('good')).to.include({ kind: 'pass', principal: session });
    expect(lan('bad')).to.include({ code: 'E_UNPAIRED', failedCredential: true });
    expect(lan(null)).to.include({ code: 'E_UNPAIRED', failedCredential: false });
    expect(lan('good', { target: '/api/nope' })).to.include({ code: 'E_NOT_FOUND' });
    expect(lan('good', { method: 'POST', target: '/api/dashboard/pin/clear' })).to.include({
      code: 'E_UNPAIRED',
    });
  });

  it('a phone that looks for the internet is sent to the set-up: from hotspot and USB, to read, over HTTP', () => {
    const phone = (more: Partial<Ask> = {}): Ask => ({
      target: '/generate_204',
      headers: [['Host', 'example.com']],
      from: 'hotspot',
      ...more,
    });
    for (const from of ['hotspot', 'usb'] as const)
      for (const method of ['GET', 'HEAD']) {
        const answer = judge(phone({ from, method }), UNPAIRED);
        expect(answer).to.include({ kind: 'redirect', rule: 'unpaired' });
        expect(answer.kind === 'redirect' && answer.location).to.match(/^http:\/\/192\.168\.[47]\.1:8080\//);
      }
    for (const more of [
      { method: 'POST' },
      { secure: true },
      { method: 'PUT' },
      { upgrade: true },
      { from: 'lan' },
      { from: 'loopback' },
      { unix: true },
      {
        headers: [
          ['Host', 'example.com'],
          ['x-svc-relayed', '1'],
        ],
      },
    ] as const)
      expect(told(phone(more), UNPAIRED), JSON.stringify(more)).to.include({
        code: 'E_ORIGIN',
      });
    expect(told(phone()), 'paired').to.include({ code: 'E_UNAUTHENTICATED' });
  });
});

describe('a signed call of the fleet', () => {
  const caller: Principal = { kind: 'fleet', id: 'fleet:mc_a', scopes: ['read'], confirmable: ['flight'] };
  const valid = { kind: 'valid', principal: caller, confirmed: null } as unknown as FleetCredential;
  const call = (
    fleet: FleetCredential | undefined,
    ask: Ask,
    state = edgeState(),
    lockedFor: number | null = null,
  ) => {
    const { peer, ...request } = head(ask);
    const { fleet: _none, ...rest } = peer;
    const by: Peer = {
      ...rest,
      kind: 'fleet',
      address: 'remote',
      lockedFor,
      ...(fleet === undefined ? {} : { fleet }),
    };
    return decide({ ...request, peer: by }, state);
  };
  const status: Ask = { target: '/api/status' };

  it('that is valid passes as its caller, and no key, session or token is looked at', () => {
    expect(call(valid, status)).to.include({ kind: 'pass', principal: caller });
    expect(
      call({ ...valid, principal: { ...caller, scopes: [] } } as FleetCredential, {
        ...status,
        headers: [withKey],
      }),
    ).to.include({ code: 'E_SCOPE' });
  });
  it('that is not is refused before anything else, with what it lacks', () => {
    const stale = {
      kind: 'invalid',
      code: 'E_STALE',
      detail: 'old',
      extras: { nonce: 'n' },
    } as unknown as FleetCredential;
    expect(call(stale, status)).to.deep.include({
      rule: 'credential',
      code: 'E_STALE',
      detail: 'old',
      extras: { nonce: 'n' },
      failedCredential: false,
    });
    for (const target of ['/api/status', '/healthz'])
      expect(call(undefined, { target })).to.deep.include({
        rule: 'credential',
        code: 'E_UNAUTHENTICATED',
        failedCredential: true,
        extras: {},
      });
    expect(call(undefined, status)).to.have.nested.property('row.id', STATUS);
  });
  it('while it is locked, on a node without an owner, and on what the fleet may not', () => {
    expect(call(valid, status, edgeState(), 9)).to.deep.include({
      rule: 'rate',
      code: 'E_LOCKED',
      headers: { 'retry-after': '9' },
    });
    expect(call(valid, status, UNPAIRED)).to.deep.include({
      rule: 'unpaired',
      code: 'E_UNPAIRED',
      principal: caller,
    });
    expect(call(valid, { method: 'POST', target: '/api/pairing/unpair' })).to.deep.include({
      rule: 'fleet',
      code: 'E_FLEET_FORBIDDEN',
      principal: caller,
    });
    expect(call(valid, { target: '/api/nope' })).to.include({ rule: 'row', code: 'E_NOT_FOUND' });
  });
  it('what a person could confirm is asked for; what they could not is not', () => {
    const flies: Ask = { method: 'POST', target: '/api/command' };
    const settled = (principal: Principal) => {
      const first = call({ ...valid, principal, confirmed: 'confirm' } as FleetCredential, flies);
      return first.kind === 'pass' ? settle(first, { cmd: 'arm' }, edgeState()) : first;
    };
    expect(settled(caller)).to.deep.include({ rule: 'fleet', code: 'E_CONFIRM', principal: caller });
    expect(settled({ ...caller, confirmable: ['admin'] })).to.include({ rule: 'scope', code: 'E_SCOPE' });
    expect(settled({ ...caller, scopes: ['flight'] })).to.include({ kind: 'pass' });
    // All that is missing has to be his to confirm.
    const param = { ...flies, target: '/api/params/RTL_ALT' };
    const both = (confirmable: readonly Scope[]) => {
      const principal = { ...caller, confirmable };
      const first = call({ ...valid, principal, confirmed: 'confirm' } as FleetCredential, param);
      const answer = first.kind === 'pass' ? settle(first, { value: 0 }, edgeState()) : first;
      return answer.kind === 'refuse' ? answer.code : answer.kind;
    };
    expect([both(['flight']), both(['admin']), both(['flight', 'admin'])]).to.deep.equal([
      'E_SCOPE',
      'E_SCOPE',
      'E_CONFIRM',
    ]);
  });
});

describe('credentials of special rows', () => {
  it('a ticket opens the WebSocket that it was made for, and no other row', () => {
    const asked: string[] = [];
    const ticket: Principal = { kind: 'ticket', id: 't', scopes: null };
    const credentials: CredentialChecks = {
      ...trusting(),
      session: () => null,
      token: () => null,
      ticket: (value, scope) => {
        asked.push(`${value} ${scope}`);
        return value === 'good' ? ticket : null;
      },
    };
    const state = edgeState({ credentials });
    const open = (value: string, target = '/api/telemetry/ws', upgrade = true) =>
      judge({ target, upgrade, headers: [['Sec-WebSocket-Protocol', `svc-ws-ticket, ${value}`]] }, state);
    expect(open('good')).to.include({ kind: 'pass', principal: ticket });
    expect(asked).to.have.length(1);
    expect(asked[0]).to.match(/^good \S+$/);
    expect(open('bad')).to.include({ code: 'E_UNAUTHENTICATED', failedCredential: true });
    expect(open('good', '/api/status', false)).to.include({ code: 'E_UNAUTHENTICATED' });
    expect(asked).to.have.length(2);
    expect(ticketScope('plugins.http:{id}/{other}', { id: 'a.b' })).to.equal('plugins.http:a.b/');
  });

  it('a WebSocket may name its client in the query, once and well', () => {
    const named = (
      query: string,
      target = '/api/telemetry/ws',
      upgrade = true,
      headers: Ask['headers'] = [withKey],
    ) => {
      const answer = judge({ target: `${target}${query}`, upgrade, headers });
      return answer.kind === 'pass' ? answer.clientId : answer.kind;
    };
    expect(named('?client_id=tablet')).to.equal('tablet');
    for (const query of ['', '?client_id=', '?client_id=a&client_id=b', '?client_id=a%20b', '?x=tablet'])
      expect(named(query), query).to.equal(null);
    expect(
      named('?client_id=tablet', '/api/telemetry/ws', true, [withKey, ['x-svc-client-id', 'phone']]),
    ).to.equal('phone');
    expect(named('?client_id=tablet', '/api/ping', false)).to.equal(null);
  });

  it('who is on this machine is known by a Host of this machine', () => {
    const onBox = (host: string) =>
      told({ target: '/api/mcp/status', from: 'loopback', trusted: true, headers: [['Host', host]] });
    for (const host of ['localhost', 'LOCALHOST:8080', '[::1]:8080', '127.0.0.1', '127.12.255.3:1'])
      expect(onBox(host), host).to.deep.include({
        kind: 'pass',
        principal: { kind: 'onbox', id: 'onbox', scopes: null },
      });
    for (const host of ['127.0.0.1.evil.example', 'x127.0.0.1', '127.0', '127.a.b.c', '[::2]', '10.0.0.1'])
      expect(onBox(host), host).to.include({ code: 'E_UNAUTHENTICATED' });
  });

  it('through a ground station: its word, and what only a key may do for a stated key alone', () => {
    const relay = (who: string | null, ask: Ask = { target: '/api/status' }) =>
      told({
        ground: 'gs-1',
        ...ask,
        headers: [withKey, ...(who === null ? [] : [['x-svc-relay-caller', who] as const])],
      });
    expect(relay('session s *')).to.deep.include({
      kind: 'pass',
      principal: { kind: 'relay', id: 'relay:gs-1/s', scopes: null, stated: 'session' },
    });
    expect(relay(null)).to.include({ code: 'E_UNAUTHENTICATED' });
    expect(relay('key k *', { method: 'POST', target: '/api/pairing/unpair' })).to.deep.equal(
      refusal('relay', 'E_RELAY_FORBIDDEN', 'pairing.unpair.post'),
    );
  });

  it('a read ticket is given for what takes one, not through a ground station, and says why not', () => {
    const state = edgeState();
    expect(mayHaveReadTicket('/api/nope', PAIRING_KEY, state)).to.deep.include({
      rule: 'row',
      code: 'E_NOT_FOUND',
    });
    expect(mayHaveReadTicket('//', PAIRING_KEY, state)).to.include({ code: 'E_NOT_FOUND' });
    const relayed: Principal = { kind: 'relay', id: 'relay:gs/x', scopes: null };
    const refused = mayHaveReadTicket('/api/video/snapshot', relayed, state);
    expect(refused).to.include({ rule: 'relay', code: 'E_RELAY_FORBIDDEN' });
    expect(refused.kind === 'refuse' && refused.detail).to.include('Ask the drone itself');
    const through = '/api/v1/ground-station/relay-proxy/d1/api/video/snapshot';
    expect(mayHaveReadTicket(through, PAIRING_KEY, state)).to.include({ rule: 'relay' });
  });

  it('the key of this test is the one of the state', () => {
    expect(told({ target: '/api/status', headers: [['x-svc-key', KEY]] })).to.include({ kind: 'pass' });
  });
});
