import { expect } from 'chai';
import fc from 'fast-check';
import { isGuarded } from '../../front/control/edge/armed.ts';
import type { CredentialChecks, Decision, EdgeState } from '../../front/control/edge/decision.ts';
import type { AddressClass } from '../../shared/auth/address.ts';
import { EXTENSION_HEADER } from '../../shared/auth/principal.ts';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { configLeaves } from '../../shared/config/keys.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, everythingBuilt, judge, KEY, NO_SCOPES } from '../support/edge.ts';

/** What may be added to a request, and never makes more of it. */

const rows = (ROWS as readonly Row[]).filter(({ method }) => method !== 'ANY');
const ADDRESSES: readonly AddressClass[] = ['loopback', 'link-local', 'hotspot', 'usb', 'lan', 'remote'];
const PROXY = '/api/v1/ground-station/relay-proxy/d1';

type Header = readonly [string, string];
type Credential =
  | 'none'
  | 'key'
  | 'wrong key'
  | 'session'
  | 'token'
  | 'unix'
  | 'extension'
  | 'relay'
  | 'onbox';

interface Question {
  readonly row: Row;
  readonly name: string;
  /** Through the proxy of a ground station. */
  readonly proxied: boolean;
  readonly from: AddressClass;
  readonly credential: Credential;
  readonly scopes: readonly Scope[];
  readonly armed: boolean | 'unknown';
  readonly paired: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

const NAMES = ['FENCE_ENABLE', 'RTL_ALT', 'svc-link', 'svc-residual', 'a1'] as const;
const body = fc.oneof(
  fc.constant({}),
  fc.record({
    key: fc.constantFrom(...configLeaves().map(([key]) => key), 'no.such'),
    value: fc.constant(1),
  }),
  fc.record({ cmd: fc.constantFrom('arm', 'land', 'killSwitch', 'PARACHUTE', ' killswitch ') }),
  fc.subarray(['FENCE_ENABLE', 'RTL_ALT', 'ATC_RAT_PIT_P', 'NTF_LED_BRIGHT']).map((names) => ({
    params: Object.fromEntries(names.map((name) => [name, 1])),
  })),
);
const question: fc.Arbitrary<Question> = fc.record({
  row: fc.constantFrom(...rows),
  name: fc.constantFrom(...NAMES),
  proxied: fc.boolean(),
  from: fc.constantFrom(...ADDRESSES),
  credential: fc.constantFrom<Credential>(
    'none',
    'key',
    'wrong key',
    'session',
    'token',
    'token',
    'token',
    'unix',
    'extension',
    'relay',
    'onbox',
  ),
  scopes: fc.subarray([...SCOPES]),
  armed: fc.constantFrom(true, false, 'unknown' as const),
  paired: fc.boolean(),
  body,
});

/** Only these are valid: the session `s`, the token `t` with the scopes, and the token `empty` with none. */
function checks(scopes: readonly Scope[]): CredentialChecks {
  return {
    session: (value) => (value === 's' ? { kind: 'session', id: 's', scopes: null } : null),
    ticket: () => null,
    readTicket: () => null,
    token: (value) =>
      value === 't' ? { kind: 'token', id: 't', scopes } : value === 'empty' ? NO_SCOPES : null,
  };
}

function stateOf({ scopes, armed, paired, proxied }: Question): EdgeState {
  return edgeState({
    matcher: everythingBuilt,
    features: new Set(FEATURES),
    profile: proxied ? 'ground-station' : 'drone',
    armed,
    credentials: checks(scopes),
    ...(paired ? {} : { pairing: { paired: false, keyHash: null } }),
  });
}

function headersOf({ credential, scopes }: Question): readonly Header[] {
  switch (credential) {
    case 'key':
      return [['X-SVC-Key', KEY]];
    case 'wrong key':
      return [['X-SVC-Key', 'svc_wrong']];
    case 'session':
      return [['x-svc-dashboard-session', 's']];
    case 'token':
      return [['x-svc-mcp-token', 't']];
    case 'extension':
      return [[EXTENSION_HEADER, 'org.example.pilot']];
    case 'relay':
      return scopes.length === 0 ? [] : [['x-svc-relay-caller', `token t ${scopes.join('+')}`]];
    case 'onbox':
      return [['Host', 'localhost:8080']];
    case 'none':
    case 'unix':
      return [];
  }
}

function askOf(asked: Question, more: readonly Header[] = [], spell = (path: string): string => path): Ask {
  const { row, name, proxied, credential } = asked;
  const path = spell(row.path.replace(/\{\*?[a-z_]+\}/g, name));
  const upgrade = row.method === 'WS';
  return {
    method: upgrade ? 'GET' : row.method,
    target: proxied ? `${PROXY}${path}` : path,
    upgrade,
    from: credential === 'onbox' ? 'loopback' : asked.from,
    trusted: credential === 'onbox',
    unix: credential === 'unix' || credential === 'extension',
    ...(credential === 'relay' ? { ground: 'gs' } : {}),
    headers: [...headersOf(asked), ...more],
  };
}

const passes = (decision: Decision): boolean => decision.kind === 'pass';

/** @returns how many of the questions passed, so that a property is not about refusals alone */
function always(check: (asked: Question) => void, runs = 10_000): number {
  let passed = 0;
  fc.assert(
    fc.property(question, (asked) => {
      if (passes(judge(askOf(asked), stateOf(asked), asked.body))) passed++;
      check(asked);
    }),
    { numRuns: runs },
  );
  return passed;
}

const header: fc.Arbitrary<Header> = fc.tuple(
  fc.constantFrom(
    'x-svc-mcp-scopes',
    'X_SVC_MCP_SCOPES',
    'x-svc-principal',
    'x-svc-onbox',
    'x-svc-relayed',
    'x-svc-extension',
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-real-ip',
    'via',
    'cf-connecting-ip',
    'origin',
    'authorization',
    'cookie',
    'connection',
    'host',
    'x-http-method-override',
    'x-original-url',
    'x-rewrite-url',
    'x-svc-key',
    'x-svc-dashboard-session',
    'x-svc-mcp-token',
    'sec-websocket-protocol',
  ),
  // `empty` is a valid token without a scope.
  fc.constantFrom(
    '',
    '1',
    '127.0.0.1',
    'for=localhost',
    'read,admin,flight,destructive',
    'localhost',
    'empty',
    'svc_wrong',
    'svc-ws-ticket, x',
    'org.example.other',
  ),
);

const ALIASES: readonly ((path: string) => string)[] = [
  (p) => `${p}/`,
  (p) => `/${p}`,
  (p) => p.replace(/\/([^/]*)$/, '//$1'),
  (p) => p.replace(/\/([^/]*)$/, '/./$1'),
  (p) => p.replace(/\/([^/]*)$/, '/x/../$1'),
  (p) => p.replace(/\/([^/]*)$/, '/%2e/$1'),
  (p) => p.replace(/\/([^/]*)$/, '%2f$1'),
  (p) => p.replace(/\/([^/]*)$/, ';x/$1'),
  (p) => p.replace(/[a-z]/, (c) => `%${c.charCodeAt(0).toString(16)}`),
  (p) => p.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (c) => `%${c.charCodeAt(0).toString(16)}`),
  (p) => p.replace(/[a-z]/, (c) => c.toUpperCase()),
  (p) => `${p}?`,
  (p) => `${p}?x=1`,
  (p) => `${p}#`,
  (p) => `${p}%00`,
];

describe('decide: nothing that is added makes more of a request', () => {
  it('no header, no forwarding hop, no credential without a scope', () => {
    let passed = 0;
    fc.assert(
      fc.property(question, fc.array(header, { minLength: 1, maxLength: 4 }), (asked, more) => {
        const state = stateOf(asked);
        if (passes(judge(askOf(asked), state, asked.body))) {
          passed++;
          return;
        }
        // A spoilt statement makes its caller nobody, and what is public is open to nobody too.
        if (asked.row.access === 'public') return;
        expect(judge(askOf(asked, more), state, asked.body).kind).to.not.equal('pass');
      }),
      { numRuns: 10_000 },
    );
    expect(passed).to.be.greaterThan(500);
  });

  it('no alias of a path', () => {
    for (const alias of ALIASES)
      always((asked) => {
        const state = stateOf(asked);
        const spelled = judge(askOf(asked, [], alias), state, asked.body);
        if (passes(spelled)) expect(passes(judge(askOf(asked), state, asked.body))).to.equal(true);
      }, 1000);
  });

  it('force opens what the armed guard closes, for who holds destructive or has no scopes, and nothing else', () => {
    const passed = always((asked) => {
      const state = stateOf(asked);
      const plain = judge(askOf(asked), state, asked.body);
      const forced = judge(askOf(asked), state, { ...asked.body, force: true });
      if (!passes(forced) || forced.kind !== 'pass' || passes(plain)) return;
      expect(plain).to.include({ kind: 'refuse', code: 'E_ARMED' });
      const { scopes } = forced.principal;
      expect(scopes === null || scopes.includes('destructive')).to.equal(true);
    });
    expect(passed).to.be.greaterThan(500);
  });

  it('one scope less never allows more', () => {
    fc.assert(
      fc.property(question, fc.boolean(), fc.nat(), (asked, force, which) => {
        const held = asked.scopes;
        const less = held.filter((_, index) => index !== which % Math.max(1, held.length));
        const sent = force ? { ...asked.body, force: true } : asked.body;
        for (const credential of ['token', 'relay'] as const) {
          const more = { ...asked, credential };
          const fewer = { ...more, scopes: less };
          // A relay states no caller without a scope; then nobody was authenticated, which is another question.
          if (credential === 'relay' && less.length === 0) continue;
          if (passes(judge(askOf(fewer), stateOf(fewer), sent)))
            expect(passes(judge(askOf(more), stateOf(more), sent)), less.join()).to.equal(true);
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('a token that passes holds the class of the row and that of all that it names', () => {
    always((asked) => {
      const decision = judge(
        askOf({ ...asked, credential: 'token' }),
        stateOf({ ...asked, paired: true }),
        asked.body,
      );
      if (decision.kind !== 'pass' || decision.policy.access === 'public') return;
      const { id, scope } = decision.policy;
      expect(asked.scopes).to.include(scope);
      const { params = {}, cmd = '' } = asked.body as { params?: object; cmd?: string };
      const named: readonly string[] =
        id === 'params.put'
          ? Object.keys(params)
          : /^(?:params\.name|services\.name)\./.test(id)
            ? [asked.name]
            : [];
      const wanted = id.startsWith('services.') ? /^svc-link$/ : /^(?:FENCE|ATC)_/;
      if (id !== 'params.name.get' && named.some((name) => wanted.test(name)))
        expect(asked.scopes, named.join()).to.include('flight');
      if (id === 'command.post' && /kill|chute/i.test(cmd)) expect(asked.scopes).to.include('destructive');
    });
  });

  it('while armed or unknown nothing that is guarded passes without force, by whatever row, key or method', () => {
    always((asked) => {
      if (asked.armed === false) return;
      const state = stateOf(asked);
      const decision = judge(askOf(asked), state, asked.body);
      // Through the proxy of a ground station the drone says so.
      if (decision.kind !== 'pass' || decision.row.scope === 'inner') return;
      const { policy, policyParams: params } = decision;
      expect(
        isGuarded({ row: policy, params, body: asked.body, profile: state.profile }),
        policy.id,
      ).to.equal(false);
    });
  });

  /** What can be done in several ways: a guarded row, and the config keys that would do the same. */
  const TWINS: readonly (readonly [string, readonly string[]])[] = [
    ['ground-station.role.put', ['agent.role']],
    ['setup.profile.post', ['agent.profile', 'agent.role']],
    ['wfb.channel.post', ['radio.channel', 'radio.bandwidth_mhz', 'radio.mode', 'radio.cards', 'radio.mcs']],
    ['wfb.tx-power.put', ['radio.tx_power_dbm']],
    ['network.hotspot.put', ['network.setup_hotspot']],
    ['services.name.restart.post', ['mavlink.source', 'mavlink.endpoints', 'features.flight']],
  ];
  it('what a row refuses while armed no config key does, and the other way round', () => {
    for (const [id, keys] of TWINS) {
      const row = rows.find((each) => each.id === id);
      expect(row?.armed, id).to.match(/^guard/);
      for (const armed of [true, 'unknown'] as const)
        for (const key of keys) {
          const put = { method: 'PUT', target: '/api/config', headers: [['X-SVC-Key', KEY]] as const };
          expect(judge(put, edgeState({ armed }), { key, value: 1 }), key).to.include({ code: 'E_ARMED' });
        }
    }
  });
});
