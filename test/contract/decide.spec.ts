import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import { type Decision, NO_OTHER_CREDENTIALS } from '../../front/control/edge/decision.ts';
import { PAIRING_KEY } from '../../shared/auth/principal.ts';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { configLeaves } from '../../shared/config/keys.ts';
import type { Armed } from '../../shared/flight/armed.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { edgeState, head, judge, KEY, NO_SCOPES, trusting, verdict, withKey } from '../support/edge.ts';
import { targetOf } from '../support/send-row.ts';

const unpaired = edgeState({ pairing: { paired: false, keyHash: null } });
const relayed = ['x-svc-relayed', '1'] as const;

describe('decide: the order of docs/contract/edge.md', () => {
  describe('1. target', () => {
    const ambiguous: readonly [string, string][] = [
      ['A1', '//api/pairing/unpair'],
      ['A2', '/api//pairing/unpair'],
      ['A4', '/api/pairing/unpair/'],
      ['A5', '/api/%70airing/unpair'],
      ['A7', '/api/ping/../config'],
      ['A7', '/api/ping/%2e%2e/config'],
      ['A7', '/api/ping/.%2e/config'],
      ['A8', '/api/ping/..;/config'],
      ['A8', '/api/ping;jsessionid=1'],
      ['A10', 'http://evil/api/status'],
      ['A10', 'https://evil/api/status'],
      ['A10', '*'],
      ['A10', 'evil:8080'],
      ['A11', '/api/status#x'],
      ['A14', '/api/params/..%2f..%2fetc%2fpasswd'],
      ['A14', '/api/params/..%2F..%2Fetc%2Fpasswd'],
      ['A14', `/api/params/${'A'.repeat(300)}`],
      ['A14', '/api/params/%C3%A4'],
      ['A14', '/api/params/%F0%9F%9A%81'],
      ['A16', '/api/plugins/x/x/%2e%2e/y'],
      ['', '/api/status%00'],
      ['', '/api\\status'],
      ['', ''],
    ];
    for (const [id, target] of ambiguous) {
      it(`${id} refuses ${JSON.stringify(target.slice(0, 60))} before looking at the key`, () => {
        expect(verdict({ target })).to.equal('E_BAD_PATH');
        expect(verdict({ target, headers: [withKey] })).to.equal('E_BAD_PATH');
      });
    }
    it('A11 lets a plain or odd query through without a change of class', () => {
      for (const target of ['/api/status?', '/api/status??a']) {
        expect(verdict({ target })).to.equal('E_UNAUTHENTICATED');
        expect(verdict({ target, headers: [withKey] })).to.equal('pass');
      }
    });
    it('A16 keeps the query byte for byte', () => {
      const state = edgeState();
      const match = state.matcher.match('/api/plugins/x/x/a/b?q=1&q=2');
      expect(match).to.include({ kind: 'found', query: 'q=1&q=2' });
    });
    it('paths are case-sensitive', () => {
      expect(verdict({ target: '/API/status', headers: [withKey] })).to.equal('E_NOT_FOUND');
    });
    it('A13 does not take a longer word for a residual prefix', () => {
      for (const target of ['/api/pluginsX', '/api/visionary', '/setupx', '/whepper']) {
        expect(verdict({ target, headers: [withKey] })).to.equal('E_NOT_FOUND');
      }
    });
    for (const host of [[], ['a', 'b'], ['user@host'], ['a b'], ['']]) {
      it(`B5 refuses Host ${JSON.stringify(host)}`, () => {
        const raw = [...host.flatMap((value) => ['Host', value]), ...withKey];
        const request = { ...head({ target: '/api/status' }), rawHeaders: raw };
        expect(decide(request, edgeState())).to.include({ kind: 'refuse', code: 'E_BAD_REQUEST' });
      });
    }
  });

  describe('2. browser origins', () => {
    const preflight = (origin: string, target = '/api/status') =>
      judge({
        method: 'OPTIONS',
        target,
        headers: [
          ['Origin', origin],
          ['Access-Control-Request-Method', 'GET'],
        ],
      });
    it('K4 gives one script alone to a browser that wants a service worker: the page’s own', () => {
      const wanting = ['Service-Worker', 'script'] as const;
      const given = (ROWS as readonly Row[])
        .filter(({ method }) => method === 'GET')
        .filter((row) => verdict({ target: targetOf(row), headers: [withKey, wanting] }) === 'pass');
      expect(given.map(({ path }) => path)).to.deep.equal(['/sw.js']);
      expect(verdict({ target: '/nope', headers: [withKey, wanting] })).to.equal('E_ORIGIN');
    });
    it('answers a preflight of an allowed origin, the same for an unknown path (E9)', () => {
      expect(preflight('http://localhost:4000')).to.include({ kind: 'preflight' });
      expect(preflight('http://localhost:4000', '/nope')).to.deep.equal(preflight('http://localhost:4000'));
    });
    it('refuses any other, without naming an origin', () => {
      expect(preflight('http://evil.example')).to.include({ kind: 'refuse', code: 'E_ORIGIN', cors: null });
      expect(preflight('null')).to.include({ code: 'E_ORIGIN' });
    });
    it('E11 answers Private-Network-Access only to an allowed origin', () => {
      const ask = judge({
        method: 'OPTIONS',
        target: '/api/status',
        headers: [
          ['Origin', 'http://localhost:4000'],
          ['Access-Control-Request-Method', 'GET'],
          ['Access-Control-Request-Private-Network', 'true'],
        ],
      });
      expect(ask.kind === 'preflight' && ask.headers['access-control-allow-private-network']).to.equal(
        'true',
      );
    });
    it('F4 refuses a cross-site WebSocket whatever it carries', () => {
      const ask = {
        target: '/api/telemetry/ws',
        upgrade: true,
        headers: [withKey, ['Origin', 'http://evil.example']] as const,
      };
      expect(verdict(ask)).to.equal('E_ORIGIN');
      const own = [withKey, ['Origin', 'http://192.168.1.7:8080']] as const;
      expect(verdict({ ...ask, headers: own }), 'of the page itself').to.equal('pass');
    });
  });

  describe('the shape of a refusal, whatever is wrong', () => {
    const cases = [
      ['on a route of the lifecycle, without a credential', { target: '/api/plugins' }, 'lifecycle'],
      [
        'for a method that its path lacks',
        { target: '/api/plugins', method: 'PATCH', headers: [withKey] },
        'lifecycle',
      ],
      ['for a Host that is none', { target: '/api/plugins', headers: [['Host', 'a b']] }, 'lifecycle'],
      [
        'for a parameter that does not fit',
        { target: '/api/plugins/A%20B', headers: [withKey] },
        'lifecycle',
      ],
      ['elsewhere', { target: '/api/status' }, 'plain'],
      ['for a method elsewhere', { target: '/api/status', method: 'PATCH', headers: [withKey] }, 'plain'],
      ['where there is nothing', { target: '/nope', headers: [withKey] }, 'plain'],
      ['for no path at all', { target: 'nope' }, 'plain'],
    ] as const;
    for (const [what, ask, shape] of cases)
      it(`${what}: ${shape}`, () => expect(judge(ask)).to.include({ kind: 'refuse', refusals: shape }));

    it('what passes has none', () =>
      expect(judge({ target: '/api/status', headers: [withKey] })).to.not.have.property('refusals'));
  });

  describe('5. the relay rule', () => {
    for (const row of (ROWS as readonly Row[]).filter(({ relay }) => relay === 'forbid')) {
      it(`B11 keeps ${row.method} ${row.path} from a relayed caller, key or not`, () => {
        const ask = { method: row.method, target: sample(row), headers: [withKey, relayed] };
        expect(verdict(ask)).to.equal('E_RELAY_FORBIDDEN');
        expect(verdict({ ...ask, unix: true })).to.equal('E_RELAY_FORBIDDEN');
      });
    }
    it('only takes away: a relayed caller without a key is nobody', () => {
      expect(verdict({ target: '/api/status', from: 'loopback', headers: [relayed] })).to.equal(
        'E_UNAUTHENTICATED',
      );
    });
  });

  describe('6. the unpaired gate', () => {
    for (const from of ['loopback', 'link-local', 'hotspot', 'usb'] as const) {
      it(`lets ${from} in`, () =>
        expect(verdict({ target: '/api/status', from }, unpaired)).to.equal('pass'));
    }
    it('asks the LAN for a session and refuses the rest of the world', () => {
      expect(verdict({ target: '/api/status', from: 'lan' }, unpaired)).to.equal('E_UNPAIRED');
      expect(verdict({ target: '/api/status', from: 'remote' }, unpaired)).to.equal('E_REMOTE');
    });
    it('tells a ground station that the drone behind its radio is not paired, whatever it asks', () => {
      for (const target of ['/api/status', '/api/pairing/info', '/api/nope'])
        expect(verdict({ target, ground: 'gs', headers: [['Host', 'drone']] }, unpaired)).to.equal(
          'E_UNPAIRED',
        );
    });
    it('a path in no row is refused the same way, so that it maps nothing', () => {
      expect(verdict({ target: '/api/nope', from: 'remote' }, unpaired)).to.equal('E_REMOTE');
      expect(verdict({ target: '/api/nope', from: 'loopback' }, unpaired)).to.equal('E_NOT_FOUND');
    });
    it('B9 a forwarding header takes loopback its trust', () => {
      for (const name of [
        'Forwarded',
        'X-Forwarded-For',
        'X-Real-IP',
        'CF-Connecting-IP',
        'Via',
        'X_Forwarded_Host',
      ]) {
        expect(
          verdict({ target: '/api/status', from: 'loopback', headers: [[name, '127.0.0.1']] }, unpaired),
        ).to.equal('E_REMOTE');
      }
    });
    it('E3 refuses a rebound Host and a foreign Origin, also on public rows', () => {
      const claim = { method: 'POST', target: '/api/pairing/claim', from: 'loopback' } as const;
      expect(verdict({ ...claim, headers: [['Host', 'evil.example']] }, unpaired)).to.equal('E_ORIGIN');
      expect(verdict({ ...claim, headers: [['Origin', 'http://evil.example']] }, unpaired)).to.equal(
        'E_ORIGIN',
      );
      for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'svc-a1b2c3.local']) {
        expect(verdict({ ...claim, headers: [['Host', host]] }, unpaired)).to.equal('pass');
      }
    });
    it('a broken pairing file keeps the node paired, and no key opens it', () => {
      const broken = edgeState({ pairing: { paired: true, keyHash: null } });
      expect(verdict({ target: '/api/status', from: 'loopback' }, broken)).to.equal('E_UNAUTHENTICATED');
      expect(verdict({ target: '/api/status', headers: [withKey] }, broken)).to.equal('E_UNAUTHENTICATED');
    });
  });

  describe('7. public rows', () => {
    it('pass without a credential; claim and code not for remote callers', () => {
      expect(verdict({ target: '/healthz', from: 'remote' })).to.equal('pass');
      expect(verdict({ target: '/api/pairing/code', from: 'remote' })).to.equal('E_REMOTE');
      expect(verdict({ target: '/api/pairing/code', from: 'lan' })).to.equal('pass');
    });
  });

  describe('7. the sign-in, with the key instead of the PIN', () => {
    const signIn = { method: 'POST', target: '/api/dashboard/pin/verify', from: 'remote' } as const;

    it('is judged as what only the key opens, its guesses too', () => {
      expect(judge({ ...signIn, headers: [withKey] })).to.deep.include({
        kind: 'pass',
        principal: PAIRING_KEY,
      });
      expect(judge({ ...signIn, headers: [['X-SVC-Key', `${KEY}x`]] })).to.include({
        code: 'E_UNAUTHENTICATED',
        failedCredential: true,
      });
      const beside = [
        ['x-svc-dashboard-session', 's'],
        ['X-SVC-Key', `${KEY}x`],
      ] as const;
      expect(
        verdict({ ...signIn, headers: beside }, edgeState({ credentials: trusting() })),
        'no session helps',
      ).to.equal('E_UNAUTHENTICATED');
      expect(verdict({ ...signIn, headers: [withKey, withKey] }), 'twice is none').to.equal(
        'E_UNAUTHENTICATED',
      );
      expect(verdict({ ...signIn, headers: [withKey], lockedFor: 30 })).to.equal('E_LOCKED');
      expect(verdict({ ...signIn, headers: [withKey], limitedFor: 1 })).to.equal('E_RATE_LIMITED');
      expect(verdict({ ...signIn, lockedFor: 30 }), 'the PIN has a ladder of its own').to.equal('pass');
    });
  });

  describe('8. budgets', () => {
    it('refuse with Retry-After, and exempt this machine itself', () => {
      const limited = { target: '/api/status', headers: [withKey], limitedFor: 1 };
      expect(judge(limited))
        .to.include({ code: 'E_RATE_LIMITED' })
        .and.have.deep.property('headers', { 'retry-after': '1' });
      expect(verdict({ ...limited, from: 'loopback' })).to.equal('pass');
      expect(verdict({ target: '/api/status', headers: [withKey], lockedFor: 30 })).to.equal('E_LOCKED');
    });
  });

  describe('9. the credential', () => {
    it('is the key, exactly once, and nothing like it', () => {
      const ask = (headers: readonly (readonly [string, string])[]) =>
        verdict({ target: '/api/status', headers });
      expect(ask([withKey])).to.equal('pass');
      expect(ask([['x-svc-KEY', KEY]])).to.equal('pass');
      expect(ask([['X-SVC-Key', `${KEY}x`]])).to.equal('E_UNAUTHENTICATED');
      expect(ask([withKey, withKey])).to.equal('E_UNAUTHENTICATED');
      expect(ask([['X-SVC-Key', `${KEY}, ${KEY}`]])).to.equal('E_UNAUTHENTICATED');
      expect(ask([['X-SVC-Key', '']])).to.equal('E_UNAUTHENTICATED');
    });
    it('a bad one beside a good one changes nothing', () => {
      expect(verdict({ target: '/api/status', headers: [withKey, ['x-svc-mcp-token', 'rubbish']] })).to.equal(
        'pass',
      );
    });
    it('is the key or a token as a bearer too, where players ask, and nowhere else', () => {
      const bearer = (value: string) => ['Authorization', value] as const;
      const state = edgeState({ credentials: { ...NO_OTHER_CREDENTIALS, token: () => NO_SCOPES } });
      const takes = (ROWS as readonly Row[])
        .filter(({ access, method }) => access === 'key' && method !== 'WS')
        .filter((row) => {
          const ask = { method: row.method === 'ANY' ? 'GET' : row.method, target: targetOf(row) };
          const none = verdict(ask);
          const key = verdict({ ...ask, headers: [bearer(`bearer  ${KEY}`)] });
          expect(verdict({ ...ask, headers: [bearer(`Basic ${KEY}`)] })).to.equal(none);
          return key !== none;
        });
      const at = takes.map(({ method, path }) => `${method} ${path}`);
      expect(at).to.have.members([
        'GET /api/video/live.mp4',
        'POST /whep',
        'PATCH /whep/{session}',
        'DELETE /whep/{session}',
      ]);
      const live = { target: '/api/video/live.mp4' };
      expect(judge({ ...live, headers: [bearer('Bearer a.b')] }, state)).to.include({ code: 'E_SCOPE' });
      expect(judge({ ...live, headers: [bearer('Bearer a.b')] })).to.include({ failedCredential: true });
      expect(judge({ target: '/api/video', headers: [bearer('Bearer a.b')] })).to.include({
        failedCredential: false,
      });
      // One that is wrong beside one that is right changes nothing.
      for (const headers of [
        [withKey, bearer('Bearer x')],
        [bearer(`Bearer ${KEY}`), ['X-SVC-Key', 'x'] as const],
        [bearer(`Bearer ${KEY}`), ['x-svc-mcp-token', 'x'] as const],
      ])
        expect(verdict({ ...live, headers })).to.equal('pass');
      const twice = [bearer(`Bearer ${KEY}`), bearer(`Bearer ${KEY}`)];
      expect(verdict({ ...live, headers: twice })).to.equal('E_UNAUTHENTICATED');
    });
    it('counts as failed only when one was offered', () => {
      expect(judge({ target: '/api/status' })).to.include({ failedCredential: false });
      expect(judge({ target: '/api/status', headers: [['X-SVC-Key', 'svc_no']] })).to.include({
        failedCredential: true,
      });
    });
    it('nothing counts for who asks from this machine itself, unless it asks for another', () => {
      const wrong = ['X-SVC-Key', 'svc_no'] as const;
      const from = (place: 'loopback' | 'lan', ...headers: (readonly [string, string])[]) => {
        const decision = judge({ target: '/api/status', from: place, headers });
        return decision.kind === 'refuse' ? [decision.failedCredential, decision.counted] : decision.kind;
      };
      expect(from('loopback', wrong)).to.deep.equal([false, false]);
      expect(from('lan', wrong)).to.deep.equal([true, true]);
      // What a proxy on this machine passes on is its client's.
      expect(from('loopback', wrong, ['X-Forwarded-For', '10.0.0.9'])).to.deep.equal([true, true]);
      expect(from('loopback', wrong, relayed)).to.deep.equal([true, true]);
      const passes = (place: 'loopback' | 'lan') =>
        judge({ target: '/api/status', from: place, headers: [withKey] });
      expect(passes('loopback')).to.include({ kind: 'pass', counted: false });
      expect(passes('lan')).to.include({ kind: 'pass', counted: true });
    });
    it('a lock and an empty budget say for how long, the lock first', () => {
      const ask = { target: '/api/status', headers: [withKey] };
      expect(judge({ ...ask, lockedFor: 30, limitedFor: 1 }))
        .to.include({ code: 'E_LOCKED', counted: false, failedCredential: false })
        .and.have.deep.property('headers', { 'retry-after': '30' });
      expect(verdict({ ...ask, lockedFor: 30, from: 'loopback' })).to.equal('pass');
      const proxied = { ...ask, headers: [withKey, ['Forwarded', 'for=1'] as const] };
      expect(verdict({ ...proxied, lockedFor: 30, from: 'loopback' })).to.equal('E_LOCKED');
    });
    it('the token store is asked last, and only when the answer would be 401', () => {
      let asked = 0;
      const credentials = { ...trusting(['read']), session: () => null, token: () => (asked++, null) };
      const state = edgeState({ credentials });
      const token = ['x-svc-mcp-token', 't'] as const;
      verdict({ target: '/api/status', headers: [withKey, token] }, state);
      verdict({ target: '/healthz', headers: [token] }, state);
      expect(asked).to.equal(0);
      expect(verdict({ target: '/api/status', headers: [token] }, state)).to.equal('E_UNAUTHENTICATED');
      expect(asked).to.equal(1);
    });
    it('until the next issue no session, ticket, token or statement of a caller opens anything', () => {
      const offers = [
        ['x-svc-dashboard-session', 's'],
        ['x-svc-mcp-token', 't'],
        ['Sec-WebSocket-Protocol', 'svc-ws-ticket, t'],
        ['x-svc-relay-caller', 'key pairing-key *'],
      ] as const;
      for (const offer of offers)
        expect(verdict({ target: '/api/status', headers: [offer] })).to.equal('E_UNAUTHENTICATED');
    });
    it('a ticket where there is no row is nobody', () => {
      const headers = [['Sec-WebSocket-Protocol', 'svc-ws-ticket, t']] as const;
      expect(verdict({ target: '/nope', headers })).to.equal('E_UNAUTHENTICATED');
    });
    it('on a keyonly row a session is somebody who may not', () => {
      const state = edgeState({ credentials: trusting() });
      const ask = {
        method: 'POST',
        target: '/api/dashboard/pin/clear',
        headers: [['x-svc-dashboard-session', 's']] as const,
      };
      expect(verdict(ask, state)).to.equal('E_SCOPE');
    });
    it('on-box trust: loopback, no forwarding, loopback Host, no foreign Origin, only on rows that grant it', () => {
      const state = edgeState({ credentials: trusting() });
      const ask = (more: object) => ({
        target: '/api/mcp/status',
        from: 'loopback' as const,
        trusted: true,
        headers: [['Host', 'localhost:8080']] as (readonly [string, string])[],
        ...more,
      });
      expect(verdict(ask({}), state)).to.equal('pass');
      expect(verdict(ask({ from: 'lan' }), state)).to.equal('E_UNAUTHENTICATED');
      expect(verdict(ask({ headers: [['Host', 'drone.local']] }), state)).to.equal('E_UNAUTHENTICATED');
      expect(
        verdict(
          ask({
            headers: [
              ['Host', 'localhost'],
              ['Forwarded', 'for=1'],
            ],
          }),
          state,
        ),
      ).to.equal('E_UNAUTHENTICATED');
      expect(
        verdict(
          ask({
            headers: [
              ['Host', 'localhost'],
              ['Origin', 'http://evil'],
            ],
          }),
          state,
        ),
      ).to.equal('E_ORIGIN'); // D17
      expect(verdict(ask({ target: '/api/status' }), state)).to.equal('E_UNAUTHENTICATED');
    });
  });

  describe('10. scope', () => {
    const rows = (ROWS as readonly Row[]).filter(
      ({ access, scope }) => access !== 'public' && scope !== 'inner',
    );
    it('D5 D6 a token passes exactly where it holds the class of the row', () => {
      for (const row of rows) {
        for (const scope of SCOPES) {
          const state = edgeState({
            credentials: { ...trusting([scope]), session: () => null },
          });
          const ask = {
            method: row.method,
            target: sample(row),
            upgrade: row.method === 'WS',
            headers: [['x-svc-mcp-token', 't']] as const,
          };
          // A parameter that is not among the harmless ones needs flight besides.
          const ofParameter = row.names.some(
            ({ kind, in: where }) => kind === 'parameter' && where === 'path',
          );
          const fits = row.scope === scope && !ofParameter;
          const answer = verdict(row.method === 'WS' ? { ...ask, method: 'GET' } : ask, state, {});
          if (fits) expect(answer, `${row.id} ${scope}`).to.be.oneOf(['pass', 'E_NOT_IMPLEMENTED']);
          else expect(answer, `${row.id} ${scope}`).to.equal('E_SCOPE');
        }
      }
    });
    const holding = (scopes: readonly Scope[], armed: Armed = false) =>
      edgeState({ armed, credentials: { ...trusting(scopes), session: () => null } });
    const ask = (method: string, target: string) => ({
      method,
      target,
      headers: [['x-svc-mcp-token', 't']] as const,
    });
    const missing = (decision: Decision) =>
      decision.kind === 'refuse' ? [decision.code, decision.extras['missing']] : decision.kind;

    it('a forced override needs destructive besides the class of the row', () => {
      const write = ask('PUT', '/api/params/NTF_LED_BRIGHT');
      const force = { value: 1, force: true };
      expect(verdict(write, holding(['admin', 'destructive'], true), force)).to.equal('pass');
      for (const armed of [true, 'unknown'] as const) {
        expect(missing(judge(write, holding(['admin'], armed), force))).to.deep.equal([
          'E_SCOPE',
          ['destructive'],
        ]);
        expect(missing(judge(write, holding(['destructive'], armed), force))).to.deep.equal([
          'E_SCOPE',
          ['admin'],
        ]);
        expect(missing(judge(write, holding(['read'], armed), force))).to.deep.equal([
          'E_SCOPE',
          ['admin', 'destructive'],
        ]);
        expect(verdict(write, holding(['admin', 'destructive'], armed), {})).to.equal('E_ARMED');
      }
    });

    it('force that overrides nothing is ignored: it neither gives nor takes', () => {
      const write = ask('PUT', '/api/params/NTF_LED_BRIGHT');
      expect(verdict(write, holding(['destructive']), { value: 1, force: true })).to.equal('E_SCOPE');
      expect(judge(write, holding(['admin']), { value: 1, force: true })).to.include({
        kind: 'pass',
        forced: false,
      });
      const rename = ask('PUT', '/api/config');
      const body = { key: 'agent.name', value: 'x', force: true };
      expect(verdict(rename, holding(['destructive'], true), body)).to.equal('E_SCOPE');
      expect(verdict(rename, holding(['admin'], true), body)).to.equal('pass');
    });

    it('a socket that overrides for what comes later needs destructive besides, armed or not', () => {
      const open = { ...ask('GET', '/api/mavlink/ws?force=1'), upgrade: true };
      expect(verdict(open, holding(['destructive']))).to.equal('E_SCOPE');
      expect(verdict(open, holding(['read']))).to.equal('E_SCOPE');
      expect(verdict(open, holding(['read', 'destructive']))).to.equal('pass');
    });

    it('killSwitch needs flight and destructive, whatever its case', () => {
      const command = ask('POST', '/api/command');
      expect(verdict(command, holding(['flight']), { cmd: 'arm' })).to.equal('pass');
      for (const cmd of ['killSwitch', 'KILLSWITCH', ' killswitch ', 'rebootAutopilot', 'motorTest']) {
        expect(missing(judge(command, holding(['flight']), { cmd }))).to.deep.equal([
          'E_SCOPE',
          ['destructive'],
        ]);
        expect(missing(judge(command, holding(['destructive']), { cmd }))).to.deep.equal([
          'E_SCOPE',
          ['flight'],
        ]);
        expect(missing(judge(command, holding(['read']), { cmd }))).to.deep.equal([
          'E_SCOPE',
          ['flight', 'destructive'],
        ]);
        expect(verdict(command, holding(['flight', 'destructive']), { cmd })).to.equal('pass');
      }
    });

    it('what is named adds its class: a token of the preset fly writes no parameter and restarts no link', () => {
      const fly = holding(['read', 'flight']);
      const both = holding(['admin', 'flight']);
      const several = { params: { RTL_ALT: 1, NTF_LED_BRIGHT: 1, WPNAV_SPEED: 0 } };
      const cases = [
        ['POST', '/api/params/RTL_ALT', { value: 0 }],
        ['PUT', '/api/params/RTL_ALT', { value: 0 }],
        ['PUT', '/api/params', several],
        ['PUT', '/api/params', { params: { NTF_LED_BRIGHT: 0, RTL_ALT: 1 } }],
        ['POST', '/api/services/svc-link/restart', {}],
      ] as const;
      for (const [method, target, body] of cases) {
        const at = `${method} ${target}`;
        expect(missing(judge(ask(method, target), fly, body)), at).to.deep.equal(['E_SCOPE', ['admin']]);
        const admin = judge(ask(method, target), holding(['admin']), body);
        expect(missing(admin), at).to.deep.equal(['E_SCOPE', ['flight']]);
        expect(verdict(ask(method, target), both, body), at).to.equal('pass');
      }
      // The safety net needs destructive too; what makes the vehicle another one is for no token.
      for (const [name, wanted] of [
        ['FENCE_ENABLE', ['destructive']],
        ['ARMING_CHECK', ['destructive']],
        ['FORMAT_VERSION', ['keyonly']],
      ] as const)
        expect(
          missing(judge(ask('PUT', '/api/params'), both, { params: { [name]: 0 } })),
          name,
        ).to.deep.equal(['E_SCOPE', wanted]);
      const prune = { key: 'logging.store.max_age_days', value: 1 };
      const put = ask('PUT', '/api/config');
      expect(missing(judge(put, holding(['destructive']), prune))).to.deep.equal(['E_SCOPE', ['admin']]);
      expect(missing(judge(put, holding(['admin']), prune))).to.deep.equal(['E_SCOPE', ['destructive']]);
      expect(verdict(put, holding(['admin', 'destructive']), prune)).to.equal('pass');
    });

    it('whoever is refused hears of all that is missing, and of the key where no token is enough', () => {
      const armed = judge(ask('PUT', '/api/params'), holding(['read'], true), {
        params: { RTL_ALT: 1, FENCE_ENABLE: 0 },
        force: true,
      });
      expect(armed.kind === 'refuse' && armed.detail).to.match(
        /FENCE_ENABLE .*lacks admin and flight and destructive/,
      );
      expect(armed.kind === 'refuse' && armed.extras).to.deep.equal({
        required: 'destructive',
        missing: ['admin', 'flight', 'destructive'],
        granted: ['read'],
      });
      const all = holding(SCOPES);
      for (const decision of [
        judge(ask('PUT', '/api/config'), all, { key: 'features.mcp', value: false }),
        judge(ask('POST', '/api/mcp/tokens'), all, { scopes: ['read'] }),
      ])
        expect(decision.kind === 'refuse' && decision.detail).to.match(/use the pairing key/);
    });
  });

  describe('11. features', () => {
    it('H10 answers 501 for a route of another profile and of a build without the residual, 404 for no route', () => {
      expect(judge({ target: '/api/v1/ground-station/status', headers: [withKey] })).to.include({
        code: 'E_NOT_IMPLEMENTED',
      });
      const headless = edgeState({ residual: false });
      expect(verdict({ target: '/api/config', headers: [withKey] }, headless)).to.equal('E_NOT_IMPLEMENTED');
      expect(verdict({ target: '/api/config/schema', headers: [withKey] }, headless)).to.equal('pass');
      expect(verdict({ target: '/api/nope', headers: [withKey] }, headless)).to.equal('E_NOT_FOUND');
    });
    it('a known path with another method is 405 with Allow, after authentication', () => {
      expect(verdict({ method: 'DELETE', target: '/api/status' })).to.equal('E_UNAUTHENTICATED');
      expect(judge({ method: 'DELETE', target: '/api/status', headers: [withKey] }))
        .to.include({ code: 'E_METHOD' })
        .and.have.deep.property('headers', { allow: 'GET, HEAD' });
    });
  });

  describe('12. the armed guard (J6)', () => {
    const unpair = { method: 'POST', target: '/api/pairing/unpair', headers: [withKey] };
    for (const [armed, guarded] of [
      [true, true],
      ['unknown', true],
      [false, false],
    ] as const) {
      it(`vehicle ${armed}: ${guarded ? '409 unless forced' : 'free'}`, () => {
        const state = edgeState({ armed });
        const refused = guarded ? 'E_ARMED' : 'pass';
        expect(verdict(unpair, state)).to.equal(refused);
        expect(verdict(unpair, state, { force: false })).to.equal(refused);
        expect(verdict(unpair, state, { force: 'true' })).to.equal(refused);
        expect(verdict(unpair, state, { force: 1 })).to.equal(refused);
        expect(verdict({ ...unpair, target: '/api/pairing/unpair?force=0' }, state)).to.equal(refused);
        expect(verdict({ ...unpair, target: '/api/pairing/unpair?force=1&force=1' }, state)).to.equal(
          refused,
        );
        expect(verdict({ ...unpair, target: '/api/pairing/unpair?force=1' }, state, {})).to.equal(refused);
        expect(verdict(unpair, state, { force: true })).to.equal('pass');
        expect(verdict({ ...unpair, target: '/api/pairing/unpair?force=1' }, state)).to.equal('pass');
      });
    }
    it('says what was refused and how to override it', () => {
      const answer = judge(unpair, edgeState({ armed: 'unknown' }));
      expect(answer.kind === 'refuse' && answer.extras).to.deep.equal({
        action: 'forget the pairing',
        armed: 'unknown',
        override: { body: { force: true }, query: 'force=1' },
      });
    });
    it('what may cut the link asks about every vehicle on it, what changes the chosen one about that alone', () => {
      for (const anyArmed of [true, 'unknown'] as const) {
        const state = edgeState({ armed: false, anyArmed });
        const ask = (method: string, target: string, body?: unknown): string =>
          verdict({ method, target, headers: [withKey] }, state, body);
        for (const [method, target, body] of [
          ['POST', '/api/services/svc-link/restart', {}],
          ['POST', '/api/v1/system/restart-supervisor', {}],
          ['POST', '/api/system/reboot', {}],
          ['POST', '/api/system/shutdown', {}],
          ['POST', '/api/v1/system/update', {}],
          ['POST', '/api/pairing/unpair', {}],
          ['PUT', '/api/config', { key: 'mavlink.source', value: 'sim' }],
          ['POST', '/api/wfb/channel', {}],
          ['PUT', '/api/v1/network/hotspot', {}],
          ['POST', '/api/setup/profile', {}],
          ['DELETE', '/api/plugins/abc', {}],
          ['POST', '/api/mavlink/signing/enroll-fc', {}],
        ] as const) {
          expect(ask(method, target, body), target).to.equal('E_ARMED');
          expect(ask(method, target, { ...body, force: true }), target).to.equal('pass');
        }
        expect(ask('PUT', '/api/params/RTL_ALT', { value: 1 })).to.equal('pass');
        expect(ask('POST', '/api/calibration', { sensor: 'level' })).to.equal('pass');
        expect(ask('POST', '/api/services/svc-video/restart', {})).to.equal('pass');
      }
    });
    it('guards every config key that would do what a guarded row does, and no other', () => {
      const put = { method: 'PUT', target: '/api/config', headers: [withKey] };
      const guarded = configLeaves().filter(([, leaf]) => leaf['x-armed'] === 'guard');
      const families =
        /^(?:agent\.(?:role|profile)|radio\..+|features\..+|network\..+|mavlink\.(?:source|system|endpoints)|fleet\.(?:scopes|operators)|flight\.max_goto_m)$/;
      for (const [key] of configLeaves())
        expect(
          guarded.some(([each]) => each === key),
          key,
        ).to.equal(families.test(key));
      for (const armed of [true, 'unknown'] as const) {
        const state = edgeState({ armed });
        for (const [key] of guarded) {
          expect(verdict(put, state, { key, value: 1 }), key).to.equal('E_ARMED');
          expect(verdict(put, state, { key, value: 1, force: true }), key).to.equal('pass');
        }
        expect(verdict(put, state, { key: 'logging.level', value: 'debug' })).to.equal('pass');
        expect(verdict(put, state, { value: 1 }), 'no key').to.equal('E_ARMED');
      }
      const free = edgeState();
      for (const [key] of guarded) expect(verdict(put, free, { key, value: 1 }), key).to.equal('pass');
    });
    it('a key of the configuration is overridden by a token with admin and destructive only', () => {
      const put = { method: 'PUT', target: '/api/config', headers: [['x-svc-mcp-token', 't']] as const };
      const body = { key: 'radio.channel', value: 36, force: true };
      const answer = (scopes: readonly Scope[]) => {
        const credentials = { ...trusting(scopes), session: () => null };
        return verdict(put, edgeState({ armed: true, credentials }), body);
      };
      expect(answer(['admin'])).to.equal('E_SCOPE');
      expect(answer(['destructive'])).to.equal('E_SCOPE');
      expect(answer(['admin', 'destructive'])).to.equal('pass');
    });
  });

  describe('inner routes through the relay proxy', () => {
    it('one target within, too: a parameter that does not fit its inner row', () => {
      expect(through('GET', 'api/params/a%20b')).to.equal('E_BAD_PATH');
    });
    const ground = (scopes: readonly Scope[]) =>
      edgeState({
        profile: 'ground-station',
        features: new Set(FEATURES),
        credentials: { ...trusting(scopes), session: () => null },
      });
    const through = (
      method: string,
      path: string,
      body: unknown = {},
      scopes: readonly Scope[] = ['flight'],
    ) =>
      verdict(
        {
          method,
          target: `/api/v1/ground-station/relay-proxy/d1/${path}`,
          headers: [['x-svc-mcp-token', 't']],
        },
        ground(scopes),
        body,
      );
    it('a token is judged by the class of the inner row', () => {
      expect(through('POST', 'api/command')).to.equal('pass');
      expect(through('GET', 'api/status')).to.equal('E_SCOPE');
      expect(through('GET', 'api/nope')).to.equal('E_NOT_FOUND');
    });
    it('and of what it names besides', () => {
      const fence = { params: { RTL_ALT: 1, NTF_LED_BRIGHT: 0 } };
      for (const scopes of [['flight'], ['admin'], ['read', 'flight']] as const)
        expect(through('PUT', 'api/params', fence, scopes)).to.equal('E_SCOPE');
      expect(through('PUT', 'api/params', fence, ['admin', 'flight'])).to.equal('pass');
      expect(through('POST', 'api/services/svc-link/restart')).to.equal('E_SCOPE');
      expect(through('POST', 'api/command', { cmd: 'killSwitch' }, ['destructive'])).to.equal('E_SCOPE');
    });
    it('the drone judges again what a ground station states, its armed vehicle included', () => {
      const stated = (scopes: string, armed: Armed, body: unknown) =>
        verdict(
          {
            method: 'PUT',
            target: '/api/params',
            ground: 'gs',
            headers: [
              ['Host', 'drone'],
              ['x-svc-relay-caller', `token t ${scopes}`],
            ],
          },
          edgeState({ armed }),
          body,
        );
      const fence = { params: { RTL_ALT: 0 } };
      expect(stated('read+flight', false, fence)).to.equal('E_SCOPE');
      expect(stated('admin+flight', false, fence)).to.equal('pass');
      expect(stated('admin+flight', false, { ...fence, force: true })).to.equal('pass');
      expect(stated('admin+flight', true, { ...fence, force: true })).to.equal('E_SCOPE');
      expect(stated('destructive', true, { ...fence, force: true })).to.equal('E_SCOPE');
      expect(stated('admin+flight+destructive', true, { ...fence, force: true })).to.equal('pass');
    });
  });
});

/** A target that the row's template matches. */
function sample(row: Row): string {
  return row.path.replace(/\{\*?([a-z_]+)\}/g, (_, name: string) => (/^[zxy]$/.test(name) ? '1' : 'x1'));
}
