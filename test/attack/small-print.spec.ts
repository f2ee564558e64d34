import { readFile, writeFile } from 'node:fs/promises';
import type { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import { hasRoutable } from '../../front/control/edge/interfaces.ts';
import { OwnNames } from '../../front/control/edge/own-names.ts';
import { LogTail } from '../../residual/app/logs/log-tail.ts';
import { classifyAddress } from '../../shared/auth/address.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import { deriveTokenKey, signToken } from '../../shared/auth/token.ts';
import { plainText } from '../../shared/plain-text.ts';
import { edgeState, head, KEY, verdict } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { rawBody, rawHttp } from '../support/raw-http.ts';
import { refusal } from '../support/refusal.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { DEVICE, PAIRING_KEY, TokenNode } from '../support/token-stores.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('tokens made by hand', () => {
  let dir: string;
  let node: TokenNode;
  beforeEach(async () => {
    dir = await tempDir();
    node = new TokenNode(dir);
  });
  afterEach(async () => removeDir(dir));

  /** A token as whoever has the pairing key and the salt could sign it. */
  const forged = async (change: object): Promise<string> => {
    const { token, token_id: tokenId, expires_at: expiresAt } = await node.mint(['read']);
    expect(node.store.verify(token)).to.not.equal(null);
    const { salt } = JSON.parse(await readFile(node.file, 'utf8')) as { salt: string };
    const key = deriveTokenKey(PAIRING_KEY, Buffer.from(salt, 'hex'));
    return signToken(key, {
      tokenId,
      operatorId: 'local',
      iss: `agent:${DEVICE}`,
      scopes: ['read'],
      allowedNodes: [],
      expiresAt,
      label: '',
      ...change,
    });
  };

  it('as minted: holds; a scope twice, an id that is in no registry, more than 365 days: refused', async () => {
    expect(node.store.verify(await forged({}))).to.not.equal(null);
    expect(node.store.verify(await forged({ scopes: ['read', 'read'] }))).to.equal(null);
    expect(node.store.verify(await forged({ tokenId: `mct_${'0'.repeat(24)}` }))).to.equal(null);
    expect(node.store.verify(await forged({ expiresAt: node.clocks.now() + 400 * DAY_MS }))).to.equal(null);
  });

  it('a registry that was written by hand gives no longer life either, and a scope twice is not minted', async () => {
    const { token } = await node.mint(['read'], 365);
    const { expires_at: end } = await node.mint(['read'], 365);
    const text = await readFile(node.file, 'utf8');
    await writeFile(node.file, text.replaceAll(String(end), String(end + 1000 * DAY_MS)), { mode: 0o600 });
    const key = await forged({ expiresAt: end + 100 * DAY_MS });
    expect(node.store.verify(key)).to.equal(null);
    node.clocks.advance(366 * 86_400);
    expect(node.store.verify(token)).to.equal(null);
    const twice = node.store.mint({ label: '', scopes: ['read', 'read'], ttlMs: null, allowedNodes: [] });
    expect((await refusal(twice)).code).to.equal('E_INVALID_VALUE');
  });
});

describe('where a caller stands, by the address that he reached', () => {
  const stands = (address: string, local: string, routable = false) =>
    classifyAddress(address, { local, isRoutable: () => routable });

  it('the hotspot and the USB link are the node’s own; elsewhere their ranges are a LAN', () => {
    expect(stands('192.168.4.20', '192.168.4.1')).to.equal('hotspot');
    expect(stands('192.168.7.2', '::ffff:192.168.7.1')).to.equal('usb');
    expect(stands('192.168.4.20', '192.168.4.33')).to.equal('lan');
    expect(stands('192.168.7.2', '192.168.7.9')).to.equal('lan');
    expect(stands('192.168.7.2', '192.168.4.1')).to.equal('lan');
  });

  it('link-local is a lifeline where the interface has nothing else', () => {
    expect(stands('169.254.9.2', '169.254.9.1')).to.equal('link-local');
    expect(stands('fe80::2', 'fe80::1')).to.equal('link-local');
    expect(stands('fe80::2', 'fe80::1', true)).to.equal('remote');
    const eth = (...addresses: string[]) =>
      ({ eth0: addresses.map((address) => ({ address })) }) as unknown as ReturnType<
        typeof networkInterfaces
      >;
    expect(hasRoutable(eth('fe80::1'), 'fe80::1')).to.equal(false);
    expect(hasRoutable(eth('fe80::1', '169.254.1.1'), 'fe80::1')).to.equal(false);
    expect(hasRoutable(eth('fe80::1', '10.0.0.5'), 'fe80::1')).to.equal(true);
    expect(hasRoutable(eth('10.0.0.5'), 'fe80::1')).to.equal(true);
  });

  it('a LAN that uses the hotspot’s range is asked for a session (needs root and iproute2)', async function () {
    if (noNamespaces() !== null) this.skip();
    const node = await TestNode.start({ simulated: false });
    const host = await RemoteHost.create('192.168.4.77/24', '192.168.4.2/24');
    try {
      const { status, body } = await host.call({ url: `http://${host.near}:${node.port}/api/status` });
      expect([status, (JSON.parse(body) as { code: string }).code]).to.deep.equal([403, 'E_UNPAIRED']);
    } finally {
      await host.destroy();
      await node.stop();
    }
  });
});

describe('the Host of an unpaired node', () => {
  const own = new OwnNames({
    names: ['svc-a1b2c3.local', 'Drone.Example'],
    interfaces: () =>
      ({
        eth0: [{ address: '10.0.0.5' }, { address: 'fd00:99::1' }, { address: 'fe80::1' }],
      }) as unknown as ReturnType<typeof networkInterfaces>,
    now: () => 1,
  });
  const unpaired = edgeState({ pairing: { paired: false, keyHash: null }, hosts: own });
  const asked = (host: string): string =>
    verdict(
      { method: 'POST', target: '/api/pairing/claim', from: 'loopback', headers: [['Host', host]] },
      unpaired,
    );

  it('is one of its own names or addresses', () => {
    for (const host of [
      'svc-a1b2c3.local:8080',
      'SVC-A1B2C3.local',
      'drone.example',
      '10.0.0.5:8080',
      'localhost',
    ])
      expect(asked(host), host).to.equal('pass');
    for (const host of ['[fd00:99::1]', '[FD00:99:0::1]:8080', '[fd00:0099:0:0:0:0:0:1]'])
      expect(asked(host), host).to.equal('pass');
    for (const host of ['8.8.8.8', 'evil.local', 'svc-ffffff.local', 'evil.example', '[2001:db8::1]'])
      expect(asked(host), host).to.equal('E_ORIGIN');
  });

  it('and its port is one', () => {
    for (const host of ['10.0.0.5:0', '10.0.0.5:65536', '10.0.0.5:99999'])
      expect(asked(host), host).to.equal('E_BAD_REQUEST');
    expect(decide(head({ target: '/healthz', headers: [['Host', 'x:70000']] }), edgeState())).to.include({
      code: 'E_BAD_REQUEST',
    });
  });

  it('over a real socket', async () => {
    const node = await TestNode.start({ simulated: false });
    const ask = async (host: string) =>
      rawHttp(node.port, `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await ask(`127.0.0.1:${node.port}`)).status).to.equal(200);
    expect((await ask('evil.local')).status).to.equal(403);
    expect(rawBody(await ask('8.8.8.8'))).to.include({ code: 'E_ORIGIN' });
    const { body } = await node.json('/api/pairing/info');
    expect((await ask(String(body['mdns_host']))).status).to.equal(200);
    await node.stop();
  });
});

describe('what one client takes from the others', () => {
  it('the readers of the log: a token has four, all tokens twelve of the sixteen', async () => {
    const tail = new LogTail();
    const open = async (principal: Principal): Promise<boolean> =>
      tail
        .open({} as never, principal, async () => Promise.resolve([]))
        .then(() => true)
        .catch(() => false);
    const token = (id: string): Principal => ({ kind: 'token', id, scopes: ['read'] });
    const count = async (principal: Principal): Promise<number> =>
      (await Promise.all(Array.from({ length: 20 }, async () => open(principal)))).filter(Boolean).length;
    expect(await count(token('a'))).to.equal(4);
    expect((await count(token('b'))) + (await count(token('c'))) + (await count(token('d')))).to.equal(8);
    expect(await count({ kind: 'key', id: 'pairing-key', scopes: null })).to.equal(4);
    tail.stop();
  });

  it('twenty scrapers of /metrics at once all get everything; /api/status/full says what GET /api/video says', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const headers = { 'x-svc-key': KEY };
    const scrape = async () => (await node.fetch('/metrics', { headers })).text();
    const names = (text: string): readonly string[] =>
      [...text.matchAll(/^(svc_service_up\{[^}]*\})/gm)].map(([, name]) => name ?? '').toSorted();
    const alone = names(await scrape());
    expect(alone).to.have.length.greaterThan(2);
    for (const text of await Promise.all(Array.from({ length: 20 }, scrape)))
      expect(names(text)).to.deep.equal(alone);

    const { body } = await node.json('/api/status/full', { headers });
    const video = await node.json('/api/video', { headers });
    expect(video.status).to.equal(200);
    expect(body['video']).to.deep.equal(video.body);
    process.kill(node.pid('svc-residual'), 'SIGKILL');
    expect((await node.json('/api/status/full', { headers })).status).to.equal(200);
    await node.stop();
  });
});

describe('foreign text on a terminal', () => {
  it('has nothing in it that a terminal obeys', () => {
    expect(plainText('a\u001b[2J\u009b31m\u202eb\r\nc')).to.equal('a [2J 31m b  c');
  });

  it('svc status and svc logs print a log line of a peer without its escapes', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const bad = '\u001b]0;owned\u0007';
    // What is refused is logged by the name that the caller gave.
    await node.post('/api/command', { cmd: bad }, { 'x-svc-key': KEY });
    const { stdout, stderr } = await svc(node.paths, 'cmd', bad);
    expect(stdout + stderr).to.not.include('\u001b]');
    await node.stop();
  });
});
