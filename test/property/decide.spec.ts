import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision, Pass } from '../../front/control/edge/decision.ts';
import type { AddressClass } from '../../shared/auth/address.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { PARAM } from '../../shared/routes/row-parts.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, everythingBuilt, judge, KEY, trusting } from '../support/edge.ts';

const rows = ROWS as readonly Row[];
const ADDRESSES: readonly AddressClass[] = ['loopback', 'link-local', 'hotspot', 'usb', 'lan', 'remote'];

const row = fc.constantFrom(...rows.filter(({ method }) => method !== 'ANY'));
const target = row.map((r) => ({ row: r, path: r.path.replace(/\{\*?[a-z_]+\}/g, 'a1') }));
const caller = fc.record({
  from: fc.constantFrom(...ADDRESSES),
  key: fc.constantFrom(null, KEY, 'svc_wrong'),
  paired: fc.boolean(),
  armed: fc.constantFrom(true, false, 'unknown' as const),
});
type Caller = typeof caller extends fc.Arbitrary<infer T> ? T : never;

function stateOf(who: Caller) {
  const base = edgeState();
  return edgeState({
    matcher: everythingBuilt,
    features: new Set(FEATURES),
    armed: who.armed,
    pairing: who.paired ? base.pairing : { paired: false, keyHash: null },
  });
}

function ask(r: Row, path: string, who: Caller, more: readonly (readonly [string, string])[] = []): Ask {
  const key = who.key === null ? [] : [['X-SVC-Key', who.key] as const];
  const upgrade = r.method === 'WS';
  return {
    method: upgrade ? 'GET' : r.method,
    target: path,
    from: who.from,
    upgrade,
    headers: [...key, ...more],
  };
}

const outcome = (decision: Decision): string =>
  decision.kind === 'refuse'
    ? `refuse ${decision.code}`
    : decision.kind === 'pass'
      ? `pass ${decision.row.id}`
      : decision.kind;

/** Forty-odd ways of spelling a path so that some parser somewhere reads it as the plain one. */
const MUTATIONS: readonly ((path: string) => string)[] = [
  (p) => `/${p}`,
  (p) => `${p}/`,
  (p) => `${p}//`,
  (p) => p.replace('/', '//'),
  (p) => p.replace(/\/([^/]*)$/, '//$1'),
  (p) => p.replace(/\/([^/]*)$/, '/./$1'),
  (p) => p.replace(/\/([^/]*)$/, '/x/../$1'),
  (p) => p.replace(/\/([^/]*)$/, '/%2e/$1'),
  (p) => p.replace(/\/([^/]*)$/, '/x/%2e%2e/$1'),
  (p) => p.replace(/\/([^/]*)$/, '/x/.%2E/$1'),
  (p) => p.replace(/\/([^/]*)$/, '%2f$1'),
  (p) => p.replace(/\/([^/]*)$/, '%2F$1'),
  (p) => p.replace(/\/([^/]*)$/, '\\$1'),
  (p) => p.replace(/\/([^/]*)$/, '%5c$1'),
  (p) => p.replace(/[a-z]/, (c) => `%${c.charCodeAt(0).toString(16)}`),
  (p) => p.replace(/[a-z](?=[^a-z]*$)/, (c) => `%${c.charCodeAt(0).toString(16)}`),
  (p) => p.replace(/[a-z]/, (c) => `%25${c.charCodeAt(0).toString(16)}`),
  (p) => p.toUpperCase(),
  (p) => p.replace(/[a-z]/, (c) => c.toUpperCase()),
  (p) => `${p};a=1`,
  (p) => `${p};`,
  (p) => p.replace(/\/([^/]*)$/, ';x/$1'),
  (p) => `${p}%00`,
  (p) => `${p}%20`,
  (p) => `${p} `,
  (p) => `${p}%09`,
  (p) => `${p}%0d%0a`,
  (p) => `${p}#`,
  (p) => `${p}#/api/ping`,
  (p) => `${p}.`,
  (p) => `${p}.json`,
  (p) => `${p}/.`,
  (p) => `${p}/..`,
  (p) => `http://localhost${p}`,
  (p) => `http://evil.example${p}`,
  (p) => `//evil.example${p}`,
  (p) => p.slice(1),
  (p) => `/api/ping/..${p}`,
  (p) => `/api/ping/%2e%2e${p}`,
  (p) => `/healthz;${p}`,
  (p) => `${p}%c0%af`,
  (p) => `${p}%ff`,
  (p) => `${p}\u00e4`,
  (p) => p.replace('a', 'а'), // Cyrillic
];

/** Between which a path changes its meaning, or only looks as if. */
const PIECES = [
  '/',
  '//',
  '/a',
  'b',
  '/.',
  '.',
  '%2e',
  '%2E',
  '/%2e%2E',
  '%2F',
  '%2f',
  '%5C',
  '%00',
  '%20',
  '%41',
  '%c3%a4',
  '%C3',
  '%c0%af',
  '%ff',
  '%25',
  ';',
  ':',
  '?a=1',
  '/api',
  '/config',
  '/gcs',
  '/x',
  '/perms/a%3Ab',
] as const;

/** The table as it would be if no row had a raw parameter. */
const withoutRaw = compileTable(
  rows.map((r) => ({
    ...r,
    built: true,
    params: Object.fromEntries(
      Object.entries(r.params).map(([name, param]) => [name, param.raw === true ? PARAM.rest : param]),
    ),
  })),
).matcher;

function isExtensions({ policy }: Pass): boolean {
  return policy.id.startsWith('plugins.id.x.path.');
}

describe('decide: properties', () => {
  it('A19 no spelling of a path gets further than the plain one', () => {
    fc.assert(
      fc.property(target, caller, fc.constantFrom(...MUTATIONS), ({ row: r, path }, who, mutate) => {
        const state = stateOf(who);
        const mutated = mutate(path);
        const decision = judge(ask(r, mutated, who), state, {});
        if (decision.kind === 'refuse') return;
        expect(outcome(decision)).to.equal(outcome(judge(ask(r, path, who), state, {})));
      }),
      { numRuns: 5000 },
    );
  });

  it('random bytes in a target never pass as something that they are not', () => {
    const noise = fc.string({ minLength: 1, maxLength: 6, unit: 'binary-ascii' });
    fc.assert(
      fc.property(target, caller, noise, fc.nat(), ({ row: r, path }, who, extra, where) => {
        const at = where % (path.length + 1);
        const mutated = path.slice(0, at) + extra + path.slice(at);
        const state = stateOf({ ...who, paired: true, key: KEY });
        const decision = judge(ask(r, mutated, { ...who, paired: true, key: KEY }), state, {});
        if (decision.kind !== 'pass') return;
        // What passes is canonical: its own path, spelled the one way.
        expect(decision.path).to.equal(mutated.split('?', 1)[0]);
        expect(decision.path).to.match(/^\/(?:[A-Za-z0-9._~%-]+(?:\/[A-Za-z0-9._~%-]+)*\/?)?$/);
        if (!isExtensions(decision)) expect(decision.path).to.match(/^\/$|[^/]$/);
        expect(decision.path).to.not.match(/\/\.{1,2}(?:\/|$)/);
      }),
      { numRuns: 5000 },
    );
  });

  it('only the paths of an extension are raw: everywhere else no target passes that did not without them', () => {
    const piece = fc.constantFrom(...PIECES);
    const start = fc.constantFrom(
      '/api/plugins/a1/x',
      '/api/v1/ground-station/relay-proxy/d1/api/plugins/a1/x',
      '/api/v1/ground-station/relay-proxy/d1',
      '/api/plugins/a1',
      '/api/params',
      '/assets',
      '',
    );
    const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT');
    let extensions = 0;
    fc.assert(
      fc.property(
        start,
        fc.array(piece, { maxLength: 6 }),
        method,
        fc.boolean(),
        (at, pieces, verb, upgrade) => {
          const path = at + pieces.join('');
          const asked: Ask = {
            method: upgrade ? 'GET' : verb,
            upgrade,
            target: path,
            from: 'lan',
            headers: [['X-SVC-Key', KEY]],
          };
          const state = edgeState({ matcher: everythingBuilt, features: new Set(FEATURES) });
          const decision = judge(asked, state, {});
          if (decision.kind !== 'pass') return;
          if (isExtensions(decision)) {
            extensions++;
            for (const segment of decision.path.split('/')) {
              const text = decodeURIComponent(segment); // throws for what is no UTF-8
              expect(text).to.not.match(/^\.{1,2}$|[/\\\0]/);
            }
            return;
          }
          // The same target where no parameter is raw; through the relay, the inner target at the drone itself.
          const inner = decision.row.scope === 'inner' ? `/${decision.params['path']}` : path;
          expect(withoutRaw.match(inner).kind, inner).to.equal('found');
        },
      ),
      { numRuns: 20_000 },
    );
    expect(extensions).to.be.greaterThan(50);
  });

  it('no header turns a refusal into a pass', () => {
    const header = fc.tuple(
      fc.constantFrom(
        'x-svc-mcp-scopes',
        'X_SVC_MCP_SCOPES',
        'x-svc-principal',
        'x-svc-onbox',
        'x-svc-relayed',
        'x-svc-relay-caller',
        'x-forwarded-for',
        'forwarded',
        'x-real-ip',
        'via',
        'origin',
        'authorization',
        'cookie',
        'x-svc-key',
        'x-svc-dashboard-session',
        'x-svc-mcp-token',
        'sec-websocket-protocol',
        'x-http-method-override',
        'x-original-url',
        'x-rewrite-url',
        'connection',
        'host',
      ),
      fc.constantFrom(
        '',
        '1',
        '127.0.0.1',
        'for=localhost',
        'read,admin,flight',
        '/api/ping',
        'GET',
        'svc-ws-ticket, t',
        'svc_wrong',
        'localhost',
      ),
    );
    fc.assert(
      fc.property(
        target,
        caller,
        fc.array(header, { minLength: 1, maxLength: 4 }),
        ({ row: r, path }, who, extra) => {
          const state = stateOf(who);
          const plain = judge(ask(r, path, who), state, {});
          if (plain.kind === 'pass') return;
          const dressed = judge(ask(r, path, who, extra), state, {});
          expect(dressed.kind, outcome(dressed)).to.not.equal('pass');
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('a token never gets where the pairing key does not, and never without the class', () => {
    fc.assert(
      fc.property(
        target,
        caller,
        fc.subarray([...SCOPES]),
        fc.boolean(),
        ({ row: r, path }, who, scopes, force) => {
          const state = {
            ...stateOf({ ...who, paired: true }),
            credentials: {
              ...trusting(scopes),
              session: () => null,
              ticket: () => null,
              readTicket: () => null,
            },
          };
          const body = force ? { force: true } : {};
          const byToken = judge(ask(r, path, { ...who, key: null }, [['x-svc-mcp-token', 't']]), state, body);
          if (byToken.kind !== 'pass' || r.access === 'public') return;
          const byKey = judge(ask(r, path, { ...who, key: KEY }), state, body);
          expect(byKey.kind).to.equal('pass');
          expect(scopes).to.include(r.scope);
          if (force && r.armed === 'guard' && who.armed !== false) expect(scopes).to.include('destructive');
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('is pure: the same question twice, the same frozen answer, nothing changed', () => {
    fc.assert(
      fc.property(target, caller, ({ row: r, path }, who) => {
        const state = stateOf(who);
        const question = ask(r, path, who);
        const before = JSON.stringify(question);
        const first = judge(question, state);
        expect(judge(question, state)).to.deep.equal(first);
        expect(Object.isFrozen(first)).to.equal(true);
        expect(JSON.stringify(question)).to.equal(before);
      }),
      { numRuns: 1000 },
    );
  });
});
