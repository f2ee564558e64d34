import type { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { isGuarded } from '../../front/control/edge/armed.ts';
import { changedBy, needsAudit } from '../../front/control/edge/audited.ts';
import {
  allowedOrigins,
  isOwnOrigin,
  isProxiedOrigin,
  preflightHeaders,
} from '../../front/control/edge/cors.ts';
import { rulesAsked } from '../../front/control/edge/decide.ts';
import type { Pass } from '../../front/control/edge/decision.ts';
import { extensionCaller } from '../../front/control/edge/extension.ts';
import { scanHeaders, ticketIn } from '../../front/control/edge/headers.ts';
import { hasRoutable } from '../../front/control/edge/interfaces.ts';
import { createOnBoxRule, uidOfPeer } from '../../front/control/edge/on-box.ts';
import { OwnNames, oneSpelling } from '../../front/control/edge/own-names.ts';
import { PrincipalWatch } from '../../front/control/edge/principal-watch.ts';
import { groundOf } from '../../front/control/edge/relay.ts';
import { standing } from '../../front/control/edge/standing.ts';
import { entryOf, gateCaller, isOwnHost } from '../../front/control/edge/unpaired.ts';
import { ANONYMOUS, PAIRING_KEY } from '../../shared/auth/principal.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { ConnectionCaps } from '../../shared/http/edge/connections.ts';
import { hostName } from '../../shared/http/edge/head.ts';
import { PeerBudgets } from '../../shared/http/edge/rate.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, head, judge, withKey } from '../support/edge.ts';
import { silentLog } from '../support/pin-stores.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;
const having = (...lists: readonly (readonly string[] | undefined)[]): Interfaces =>
  Object.fromEntries(
    lists.map((list, index) => [`if${index}`, list?.map((address) => ({ address }))]),
  ) as Interfaces;

const rowOf = (id: string): Row => {
  const row = (ROWS as readonly Row[]).find((each) => each.id === id);
  if (row === undefined) throw new Error(`no row ${id}`);
  return row;
};

describe('how a caller is let in, told without a try', () => {
  const cases = [
    ['anybody, of a paired node', ANONYMOUS, true, 'credential'],
    ['from outside, of a node without a key', ANONYMOUS, false, 'nearer'],
    ['this machine itself, before there is a key', gateCaller('loopback'), false, 'open'],
    ['the hotspot of the set-up', gateCaller('hotspot'), false, 'open'],
    ['the LAN, before there is a key', gateCaller('lan'), false, 'credential'],
    ['whoever shows the key', PAIRING_KEY, true, 'open'],
    ['a session, whatever its id', { kind: 'session', id: 'unpaired:lan', scopes: null }, true, 'open'],
  ] as const;
  for (const [who, principal, paired, entry] of cases)
    it(`${who}: ${entry}`, () => expect(entryOf(principal, paired)).to.equal(entry));
});

describe('the headers of a request', () => {
  const scan = (...headers: readonly (readonly [string, string])[]) => scanHeaders(headers.flat());

  it('none of them: nothing is known, and nothing was offered', () => {
    expect(scanHeaders([])).to.deep.equal({
      host: null,
      hosts: 0,
      forwardedProto: null,
      origin: null,
      key: null,
      showsKey: false,
      session: null,
      token: null,
      bearer: null,
      ticket: null,
      relayed: false,
      relayCaller: null,
      extension: null,
      clientId: null,
      forwarded: false,
      workerScript: false,
      preflight: false,
      privateNetwork: false,
      offered: false,
    });
    expect(scanHeaders(['x-svc-relayed']), 'a name without a value').to.include({ relayed: false });
  });

  it('the scheme that a proxy says is one word, and is forwarded in any case', () => {
    const told = (...headers: readonly (readonly [string, string])[]) => {
      const { forwarded, forwardedProto } = scan(...headers);
      return [forwarded, forwardedProto];
    };
    expect(told(['X-Forwarded-Proto', ' HTTPS '])).to.deep.equal([true, 'https']);
    expect(told(['x-forwarded-proto', 'https'], ['X-Forwarded-Proto', 'http'])).to.deep.equal([true, null]);
    for (const [name, value] of [
      ['x-forwarded-proto', 'https, http'],
      ['x-forwarded-proto', ''],
      ['x_forwarded_proto', 'https'],
    ] as const)
      expect(told([name, value]), `${name}: ${value}`).to.deep.equal([true, null]);
  });

  it('nobody who comes through a listed proxy is this machine', () => {
    const { peer } = head({ target: '/', from: 'loopback' });
    expect(standing(peer, scan())).to.equal('loopback');
    expect(standing({ ...peer, proxy: true }, scan())).to.equal('remote');
    expect(standing({ ...peer, proxy: true, address: 'lan' }, scan())).to.equal('lan');
    expect(standing(peer, scan(['via', '1.1 x']))).to.equal('remote');
  });

  const singles = [
    ['x-svc-key', 'key'],
    ['x-svc-dashboard-session', 'session'],
    ['x-svc-mcp-token', 'token'],
    ['x-svc-relay-caller', 'relayCaller'],
    ['x-svc-client-id', 'clientId'],
  ] as const;
  for (const [name, member] of singles)
    it(`${name}: once, in large or small letters; twice, with underscores, empty or with a comma it is none`, () => {
      const underscored = name.toUpperCase().replaceAll('-', '_');
      for (const spelling of [name, name.toUpperCase()])
        expect(scan([spelling, 'value'])[member], spelling).to.equal('value');
      expect(scan([underscored, 'value'])[member], underscored).to.equal(null);
      expect(scan([name, 'a'], [underscored, 'a'])[member], 'twice').to.equal(null);
      expect(scan([name, 'a'], [name, 'b'], [name, 'c'])[member], 'three times').to.equal(null);
      expect(scan([name, ''])[member], 'empty').to.equal(null);
      expect(scan([name, 'a, a'])[member], 'merged').to.equal(null);
    });

  it('a bearer: once, whole, of the letters that RFC 6750 allows', () => {
    const bearer = (...values: readonly string[]): string | null =>
      scan(...values.map((value) => ['authorization', value] as const)).bearer;
    expect(bearer('Bearer a.b_c~d+e/f-1==')).to.equal('a.b_c~d+e/f-1==');
    expect(bearer('bearer  x')).to.equal('x');
    expect(bearer(`Bearer ${'x'.repeat(512)}`)).to.have.lengthOf(512);
    for (const none of [
      'Basic eDp5',
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Bearerx',
      'x Bearer y',
      `Bearer ${'x'.repeat(513)}`,
    ])
      expect(bearer(none), none).to.equal(null);
    expect(bearer('Bearer x', 'Bearer x'), 'twice').to.equal(null);
    expect(scan(['authorization', 'Bearer x']).offered, 'the row decides').to.equal(false);
  });

  it('a credential was offered with each of its headers, also where it is none', () => {
    for (const name of ['x-svc-key', 'x-svc-dashboard-session', 'x-svc-mcp-token'])
      for (const value of ['x', '', 'a,b'])
        expect(scan([name, value]).offered, `${name}: ${value}`).to.equal(true);
    expect(scan(['sec-websocket-protocol', 'svc-ws-ticket, t'])).to.include({ offered: true, ticket: 't' });
    expect(scan(['sec-websocket-protocol', 'mqtt'])).to.include({ offered: false, ticket: null });
    for (const name of ['x-svc-relay-caller', 'x-svc-client-id', 'x-svc-extension', 'origin', 'host'])
      expect(scan([name, 'x']).offered, name).to.equal(false);
  });

  it('an extension that is named twice, or not at all, is still one: of no name', () => {
    expect(scan(['x-svc-extension', 'com.example.a']).extension).to.equal('com.example.a');
    expect(scan(['x-svc-extension', '']).extension).to.equal('');
    expect(scan(['X_SVC_EXTENSION', 'com.example.a']).extension, 'a spelling that is none').to.equal('');
    expect(scan(['x-svc-extension', 'a'], ['x-svc-extension', 'b']).extension).to.equal('');
  });

  it('two origins are none that anybody has; two hosts are counted', () => {
    expect(scan(['Origin', 'http://a']).origin).to.equal('http://a');
    expect(scan(['Origin', 'http://a'], ['Origin', 'http://a']).origin).to.equal('');
    expect(scan(['Host', 'a'], ['host', 'b'])).to.include({ hosts: 2 });
  });

  it('what a proxy adds is known by its name, and other names are not', () => {
    for (const name of [
      'Forwarded',
      'X-Real-IP',
      'CF-Connecting-IP',
      'Via',
      'X-Forwarded-For',
      'x_forwarded_host',
      'X-Forwarded-',
    ])
      expect(scan([name, 'x']).forwarded, name).to.equal(true);
    for (const name of ['X-Forwarded', 'x-svc-key', 'accept', 'forward', ''])
      expect(scan([name, 'x']).forwarded, name).to.equal(false);
  });

  it('a ticket is exactly two protocols in this order', () => {
    expect(ticketIn('svc-ws-ticket, abc')).to.equal('abc');
    expect(ticketIn(' svc-ws-ticket ,abc ')).to.equal('abc');
    for (const protocols of [
      '',
      'svc-ws-ticket',
      'svc-ws-ticket,',
      'svc-ws-ticket, ',
      'abc, svc-ws-ticket',
      'other, abc',
      'svc-ws-ticket, abc, def',
      'svc-ws-ticketabc',
    ])
      expect(ticketIn(protocols), protocols).to.equal(null);
  });
});

describe('connections that end', () => {
  const open = (caps: ConnectionCaps, peer: string, count: number): number =>
    Array.from({ length: count }, () => caps.open(peer, false)).filter(Boolean).length;

  it('make room: for their peer, and for all', () => {
    const caps = new ConnectionCaps(256);
    expect(open(caps, 'a', 65) + open(caps, 'b', 65)).to.equal(128);
    expect(open(caps, 'c', 1)).to.equal(0);
    for (let i = 0; i < 64; i++) caps.close('a');
    expect([open(caps, 'c', 64), open(caps, 'a', 1)]).to.deep.equal([64, 0]);
    for (let i = 0; i < 64; i++) caps.close('c');
    expect(open(caps, 'a', 65)).to.equal(64);
    caps.close('a');
    caps.close('a');
    expect(open(caps, 'a', 65)).to.equal(2);
    // One that was never counted makes no room beyond what there is.
    caps.close('nobody');
    expect(open(caps, 'd', 65)).to.equal(1);
  });

  it('256 peers are known; the one that was first known is forgotten first, and once is enough', () => {
    const caps = new ConnectionCaps(100_000);
    for (let i = 0; i < 256; i++) caps.know(`p${i}`);
    caps.know('p255');
    caps.know('p0');
    expect([open(caps, 'p0', 100), open(caps, 'p1', 100), open(caps, 'p255', 300)]).to.deep.equal([
      100, 100, 256,
    ]);
    caps.know('new');
    expect(['p0', 'p1', 'new'].map((peer) => open(caps, peer, 300))).to.deep.equal([0, 156, 256]);
    expect(open(caps, 'stranger', 300)).to.equal(64);
  });
});

describe('what a caller has opened', () => {
  it('ends with its principal, once, and is forgotten when it is closed', () => {
    const valid = new Set(['a', 'b']);
    const watch = new PrincipalWatch(
      ({ id }) =>
        () =>
          valid.has(id),
    );
    const ended: string[] = [];
    const open = (id: string): (() => void) =>
      watch.onEnd({ kind: 'token', id, scopes: [] }, () => ended.push(id));
    open('a');
    const close = open('b');
    watch.recheck();
    expect([watch.size, ended]).to.deep.equal([2, []]);
    close();
    valid.clear();
    watch.recheck();
    watch.recheck();
    expect([watch.size, ended]).to.deep.equal([0, ['a']]);
  });

  it('is looked at several times a second, until that stops', async () => {
    let looks = 0;
    const watch = new PrincipalWatch(() => () => ++looks > 0);
    watch.stop(); // before it has begun
    watch.onEnd(ANONYMOUS, () => undefined);
    watch.start();
    await pause(600);
    expect(looks).to.be.within(1, 2);
    watch.stop();
    const before = looks;
    await pause(400);
    expect(looks).to.equal(before);
  });
});

describe('budgets of more peers than are remembered', () => {
  it('those for whom there is no room share ten times the budget of one', () => {
    let now = 0;
    const budgets = new PeerBudgets(() => now, undefined, { perSecond: 1, burst: 2 });
    for (let peer = 0; peer < 4096; peer++) budgets.spend(`peer ${peer}`);
    for (let late = 0; late < 20; late++) {
      expect(budgets.limitedFor(`late ${late}`), `late ${late}`).to.equal(null);
      budgets.spend(`late ${late}`);
    }
    expect(budgets.limitedFor('later')).to.equal(1);
    now += 101;
    expect(budgets.limitedFor('later')).to.equal(null);
    expect(budgets.limitedFor('peer 0')).to.equal(null);
  });
});

describe('the rules that a request is asked, as svc explain shows them', () => {
  const asked = (ask: Ask, state = edgeState()): readonly string[] => rulesAsked(head(ask), state);
  const ALL = ['target', 'origin', 'inner target', 'relay', 'fleet', 'tls', 'unpaired', 'public', 'budget'];

  it('end with the one that decides, or with the credential', () => {
    expect(asked({ target: '//x' })).to.deep.equal(['target']);
    expect(asked({ target: '/healthz' })).to.deep.equal(ALL.slice(0, ALL.indexOf('public') + 1));
    expect(asked({ target: '/api/status' })).to.deep.equal([...ALL, 'credential']);
    expect(asked({ target: '/api/status', headers: [withKey] })).to.deep.equal([...ALL, 'credential']);
    const required = edgeState({ tls: { required: true, port: 8443 } });
    expect(asked({ target: '/api/status', from: 'lan' }, required)).to.deep.equal(
      ALL.slice(0, ALL.indexOf('tls') + 1),
    );
  });
});

describe('origins of browsers', () => {
  const config = { cors_enabled: true, cors_origins: ['http://a'], cors_origins_extra: ['http://b'] };
  // Behind a listed proxy, by https.
  for (const [origin, host, expected] of [
    ['https://a.example', 'a.example', true],
    ['HTTPS://A.Example', 'a.EXAMPLE', true],
    ['https://a.example:8443', 'a.example:8443', true],
    ['https://a.example:8443', 'a.example', true], // a proxy that leaves the port out
    ['https://[2001:db8::1]:8443', '[2001:db8::1]', true],
    ['https://a.example', 'a.example:8443', false],
    ['https://a.example:1', 'a.example:8443', false],
    ['https://a.example.evil', 'a.example', false],
    ['https://evil.example', 'a.example', false],
    ['http://a.example', 'a.example', false], // the browser came by https
    ['xhttps://a.example', 'a.example', false],
    ['https://', '', false],
    ['null', 'a.example', false],
  ] as const)
    it(`behind a proxy ${origin} is ${expected ? '' : 'not '}the page of ${host}`, () =>
      expect(isProxiedOrigin(origin, host, 'https')).to.equal(expected));
  it('behind a proxy to which the browser came by http, the page is one of http', () => {
    expect(isProxiedOrigin('http://a.example', 'a.example', 'http')).to.equal(true);
    expect(isProxiedOrigin('https://a.example', 'a.example', 'http')).to.equal(false);
  });

  it('those of the configuration and of development, or none', () => {
    expect([...allowedOrigins(config)]).to.deep.equal([
      'http://localhost:4000',
      'http://localhost:4001',
      'http://127.0.0.1:4000',
      'http://127.0.0.1:4001',
      'http://a',
      'http://b',
    ]);
    expect([...allowedOrigins({ ...config, cors_enabled: false })]).to.deep.equal([]);
  });
  it('its own page has the authority of the Host, in whatever case', () => {
    expect(isOwnOrigin('http://Drone.local:8080', 'drone.LOCAL:8080', false)).to.equal(true);
    expect(isOwnOrigin('https://Drone.local:8443', 'drone.LOCAL:8443', true)).to.equal(true);
    for (const [origin, host, secure = false] of [
      ['http://drone.local', 'drone.local:8080'],
      ['https://drone.local', 'drone.local', false],
      ['http://drone.local', 'drone.local', true],
      ['http://evil', 'drone.local'],
      ['http://null', null],
      ['null', null],
      ['', ''],
    ] as const)
      expect(isOwnOrigin(origin, host, secure), `${origin} ${host}`).to.equal(false);
  });
  it('a preflight is answered for ten minutes, and for this origin', () => {
    const headers = preflightHeaders('http://a', false);
    expect(headers).to.include({
      'access-control-allow-origin': 'http://a',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(headers).to.not.have.property('access-control-allow-private-network');
  });
});

describe('the names and addresses of the node', () => {
  it('are read again 20 ms later at the soonest, and at once for what is not known', () => {
    let now = 100;
    let reads = 0;
    let addresses = ['10.0.0.5', 'FE80:0::1%eth0'];
    const own = new OwnNames({
      names: ['Drone.Local'],
      interfaces: () => (reads++, having(addresses, undefined)),
      now: () => now,
    });
    expect([own.has('drone.local'), own.has('10.0.0.5'), own.has('fe80::1')]).to.deep.equal([
      true,
      true,
      true,
    ]);
    expect(own.has('Drone.Local'), 'asked in lower case').to.equal(false);
    expect(reads).to.equal(1);
    addresses = ['10.0.0.6'];
    now += 19;
    expect([own.has('10.0.0.6'), reads]).to.deep.equal([false, 1]);
    now += 1;
    expect([own.has('10.0.0.6'), reads]).to.deep.equal([true, 2]);
    expect([own.has('10.0.0.5'), own.has('undefined')]).to.deep.equal([false, false]);
  });
  it('an address has one spelling', () => {
    expect(oneSpelling('fe80:0:0::1%eth0.7')).to.equal('fe80::1');
    expect(oneSpelling('10.0.0.5')).to.equal('10.0.0.5');
    expect(oneSpelling('name%x')).to.equal('name%x');
  });
  it('the port of a Host is 1 to 65535; who is no host is not ours', () => {
    expect([hostName('a:65535'), hostName('a:65536'), hostName('a:1'), hostName('a:0')]).to.deep.equal([
      'a',
      null,
      'a',
      null,
    ]);
    const all = { has: () => true };
    expect([isOwnHost(null, all), isOwnHost('a b', all), isOwnHost('a', all)]).to.deep.equal([
      false,
      false,
      true,
    ]);
    expect(isOwnHost('localhost:8080', { has: () => false })).to.equal(true);
  });
  it('an interface has a routable address or not, each for itself; one that is gone counts as having one', () => {
    expect(hasRoutable(having(['10.0.0.5'], ['fe80::1']), 'fe80::1')).to.equal(false);
    expect(hasRoutable(having(undefined, ['fe80::1', '10.0.0.5']), 'fe80::1')).to.equal(true);
    expect(hasRoutable(having(['fe80::2']), 'fe80::1')).to.equal(true);
    expect(hasRoutable(having(['169.254.1.1', '169x254.1.1']), '169.254.1.1')).to.equal(true);
  });
});

describe('who is at the other end, in odd cases', () => {
  const line = (local: string, remote: string, uid: string, gap = ' '): string =>
    [' 0:', local, remote, '01', '0:0', '0:0', '0', uid, '0'].join(gap);
  const near = '0100007F:1F90';
  const connection = {
    remoteAddress: '127.0.0.1',
    remotePort: 0x90,
    localAddress: '127.0.0.1',
    localPort: 0x1f90,
  };
  it('a low port has leading zeros; spaces may be many; what is no address has no row', () => {
    const tcp = line('0100007F:0090', near, '7', '   ');
    expect(uidOfPeer(connection, { tcp, tcp6: '' })).to.equal(7);
    for (const remoteAddress of ['fe80::1', 'localhost', '', '127.1'])
      expect(uidOfPeer({ ...connection, remoteAddress }, { tcp, tcp6: tcp }), remoteAddress).to.equal(null);
    expect(uidOfPeer({ ...connection, localAddress: 'fe80::1' }, { tcp, tcp6: tcp })).to.equal(null);
    expect(uidOfPeer(connection, { tcp: line('0100007F:0090', near, 'x'), tcp6: '' })).to.equal(null);
    const ten = line('0500000A:0090', near, '8');
    expect(uidOfPeer({ ...connection, remoteAddress: '10.0.0.5' }, { tcp: ten, tcp6: '' })).to.equal(8);
  });

  const machine = (files: Readonly<Record<string, string>>) => {
    const read: string[] = [];
    const rule = createOnBoxRule({
      ownUid: 1234,
      group: 'svc',
      log: silentLog,
      read: (path) => {
        read.push(path);
        const text = files[path];
        if (text === undefined) throw new Error('ENOENT');
        return text;
      },
    });
    return { rule, read };
  };
  const mapped = line(
    '0000000000000000FFFF00000100007F:0090',
    '0000000000000000FFFF00000100007F:1F90',
    '1000',
  );
  const passwd = 'alice:x:1000:1000::/:/bin/sh\n:x\nbroken:x:NaN:990\n';
  it('a member of the group is trusted, by either table; nobody else, and nobody where files are missing', () => {
    const files = {
      '/proc/net/tcp': '',
      '/proc/net/tcp6': mapped,
      '/etc/group': 'svc:x:990:alice\n',
      '/etc/passwd': passwd,
    };
    expect(machine(files).rule.trusts(connection)).to.equal(true);
    expect(
      machine({ ...files, '/etc/group': 'other:x:990:alice\nsvc2:x:1:alice' }).rule.trusts(connection),
    ).to.equal(false);
    expect(machine({ ...files, '/etc/group': 'svc:x:990' }).rule.trusts(connection), 'no members').to.equal(
      false,
    );
    expect(machine({ ...files, '/etc/passwd': '' }).rule.trusts(connection)).to.equal(false);
    const { '/etc/group': _group, ...without } = files;
    expect(machine(without).rule.trusts(connection)).to.equal(false);
    const none = machine({ ...files, '/proc/net/tcp6': '' });
    expect(none.rule.trusts(connection)).to.equal(false);
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
    expect(none.read, 'no user, so no group is asked for').to.deep.equal([tables, tables, tables].flat());
  });
  it('reads the files of this machine where it is not told otherwise', () => {
    const rule = createOnBoxRule({ ownUid: process.getuid?.() ?? 0, group: 'svc', log: silentLog });
    expect(rule.trusts(connection)).to.equal(false);
  });
});

describe('an extension that asks', () => {
  it('is known by an id of 128 characters at most', () => {
    const long = `a.${'b'.repeat(126)}`;
    expect(extensionCaller(long)).to.deep.equal({
      kind: 'extension',
      id: `extension:${long}`,
      scopes: ['safe_write', 'flight'],
    });
    expect(extensionCaller(`${long}b`)).to.equal(null);
    expect(extensionCaller('noDots')).to.equal(null);
  });
});

describe('the ground station in an id', () => {
  it('is what stands between relay: and the first slash', () => {
    expect(groundOf('relay:gs-1/session:a/b')).to.equal('gs-1');
    for (const id of ['relay:/x', 'relay:gs-1', 'x relay:gs-1/a', 'pairing-key', ''])
      expect(groundOf(id), id).to.equal(null);
  });
});

describe('what the armed guard concerns', () => {
  const asks = (armed: string, more: object = {}): boolean =>
    isGuarded({
      row: { armed } as unknown as Row,
      params: {},
      body: undefined,
      profile: 'drone',
      ...more,
    });
  it('follows the word of the row', () => {
    expect([asks('-'), asks('guard'), asks('inner')]).to.deep.equal([false, true, true]);
    const service = (name: string, profile = 'drone') => asks('guard-if-link', { params: { name }, profile });
    expect([service('svc-link'), service('svc-video'), asks('guard-if-link')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    const key = (body: unknown) => asks('guard-if-profile', { body });
    expect([
      key({ key: 'agent.profile' }),
      key({ key: 'agent.name' }),
      key({ key: 'no.such.key' }),
    ]).to.deep.equal([true, false, false]);
    expect([key(undefined), key({}), key({ key: 7 })], 'unknown is guarded').to.deep.equal([
      true,
      true,
      true,
    ]);
  });
});

describe('what the audit says of a change, and which change needs it', () => {
  const passing = (change: Partial<Pass> = {}): Pass => {
    const decision = judge({ method: 'POST', target: '/api/command', headers: [withKey] }, undefined, {});
    if (decision.kind !== 'pass') throw new Error(decision.kind);
    return { ...decision, ...change };
  };
  it('the names in path and body, in their order, 20 of many and 200 characters; never a value', () => {
    const pass = passing({ params: { name: 'svc-link' } });
    expect(changedBy(pass, { cmd: 'land', value: 'secret', ssid: 'field', psk: 'secret', id: 7 })).to.equal(
      'svc-link land field',
    );
    expect(changedBy(passing(), undefined)).to.equal('');
    expect(changedBy(passing(), null)).to.equal('');
    expect(changedBy(passing(), 'text')).to.equal('');
    const params = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`P${i}`, i]));
    expect(changedBy(passing(), { params }).split(' ')).to.deep.equal(Object.keys(params).slice(0, 20));
    expect(changedBy(passing(), { name: 'n'.repeat(300) })).to.have.length(200);
  });
  it('what is held, forced, raised by a name, or flies; not what ends a flight, nor what is public', () => {
    const row = rowOf('command.post');
    const plain = { ...row, scope: 'safe_write', blast: 'none', names: [], id: 'x' } as unknown as Row;
    const needs = (policy: Row, body: unknown = {}, forced = false): boolean =>
      needsAudit(passing({ policy, forced }), body);
    expect([needs(plain), needs(plain, {}, true)]).to.deep.equal([false, true]);
    for (const scope of [...SCOPES, 'none', 'inner'])
      expect(needs({ ...plain, scope } as Row), scope).to.equal(!['read', 'safe_write'].includes(scope));
    expect(needs({ ...plain, blast: 'aircraft' })).to.equal(true);
    const param = rowOf('params.name.post');
    const named = { ...plain, names: param.names } as Row;
    const put = passing({ policy: named, policyParams: { name: 'FENCE_ENABLE' } });
    expect(needsAudit(put, { value: 0 })).to.equal(param.names.length > 0);
    for (const cmd of ['land', 'rtl', 'disarm']) expect(needs(row, { cmd }), cmd).to.equal(false);
    for (const cmd of ['arm', 'takeoff', 7, undefined])
      expect(needs(row, { cmd }), String(cmd)).to.equal(true);
    expect(needs({ ...row, id: 'x' }, { cmd: 'land' }), 'another row').to.equal(true);
    const open = { ...row, access: 'public' } as Row;
    expect(needsAudit(passing({ row: open, policy: row }), { cmd: 'arm' })).to.equal(false);
  });
});
