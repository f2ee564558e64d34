import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { noBrowser, openBrowser, openPage, signIn } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { MockNetworkManager } from '../support/network/network-manager.ts';
import { TestNode } from '../support/node.ts';

const key = { 'x-svc-key': KEY };
const BASE = '/api/v1/network';

describe('the network, through the real nmcli', function () {
  this.timeout(120_000);
  let manager: MockNetworkManager;
  let node: TestNode;

  const get = async (path: string): ReturnType<TestNode['json']> => node.json(path, { headers: key });
  const send = async (method: string, path: string, body?: unknown): ReturnType<TestNode['json']> =>
    node.json(path, {
      method,
      headers: body === undefined ? key : { ...key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const active = async (): Promise<unknown> => (await get(`${BASE}/client/status`)).body['ssid'];
  const saved = async (): Promise<string[]> => {
    const { body } = await get(`${BASE}/client/configured`);
    return (body['connections'] as { name: string }[]).map(({ name }) => name);
  };
  /** A file of sysfs, for adapters. */
  const sys = async (iface: string, files: Readonly<Record<string, string>>): Promise<void> => {
    const folder = join(manager.base, 'sys/class/net', iface);
    await mkdir(join(folder, 'device'), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), `${text}\n`);
  };

  before(async () => {
    manager = await MockNetworkManager.start();
    await mkdir(join(manager.base, 'sys/module'), { recursive: true });
    await sys('wlan0', { address: '12:34:56:78:9A:BC', addr_assign_type: '1' });
    await sys('eth0', { address: '78:dd:08:d2:3d:43', addr_assign_type: '0' });
    await writeFile(join(manager.bin, 'batctl'), BATCTL, { mode: 0o755 });
    node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      config: 'agent:\n  profile: ground-station\n',
      simulated: false,
      env: { ...manager.env, SVC_SYS_DIR: join(manager.base, 'sys') },
    });
    await node.knowsArmed();
  });

  after(async () => {
    await node?.stop();
    await manager?.stop();
  });

  it('shows interfaces, and a hotspot that nobody has set up under its default name', async () => {
    const { status, body } = await get(BASE);
    expect(status).to.equal(200);
    const interfaces = body['interfaces'] as { name: string; kind: string; mac: string; managed: boolean }[];
    expect(interfaces.map(({ name, kind }) => `${name} ${kind}`)).to.have.members([
      'eth0 ethernet',
      'wlan0 wifi',
    ]);
    expect(interfaces.find(({ name }) => name === 'wlan0')?.mac).to.equal('11:22:33:44:55:66');
    expect(body['hotspot']).to.include({ enabled: false, running: false, open: null, address: null });
    expect((body['hotspot'] as { ssid: string }).ssid).to.match(/^SVC-GS-[0-9A-Z]{4}$/);
  });

  it('hears networks, their names byte for byte', async () => {
    const { status, body } = await get(`${BASE}/client/scan`);
    expect(status).to.equal(200);
    const networks = body['networks'] as Record<string, unknown>[];
    expect(networks.map(({ ssid }) => ssid)).to.have.members([
      'HomeNet',
      'Open Cafe',
      'weird:ssid\\x',
      '100% Kaffee',
      '100% Kaffee/\ufffd',
      'eduroam',
    ]);
    expect(networks.find(({ ssid }) => ssid === 'weird:ssid\\x')).to.include({
      ssid_hex: Buffer.from('weird:ssid\\x').toString('hex'),
      bssid: '00:23:f8:7e:12:bd',
      channel: 1,
      frequency_mhz: 2412,
      signal: 55,
    });
    expect(await manager.asked()).to.include('[--rescan] [yes]');
  });

  it('joins an open network, leaves it, and forgets it', async () => {
    const joined = await send('PUT', `${BASE}/client/join`, { ssid: 'Open Cafe' });
    expect(joined).to.deep.equal({ status: 200, body: { ssid: 'Open Cafe', ip: null, gateway: null } });
    expect(await active()).to.equal('Open Cafe');
    expect(await saved()).to.include('Open Cafe');
    expect((await send('DELETE', `${BASE}/client`)).body).to.deep.equal({
      left: true,
      previous_ssid: 'Open Cafe',
    });
    expect(await active()).to.equal(null);
    expect((await send('DELETE', `${BASE}/client`)).body).to.deep.equal({ left: false, previous_ssid: null });
    const forgot = await send('DELETE', `${BASE}/client/configured/Open%20Cafe`);
    expect(forgot).to.deep.equal({ status: 200, body: { forgot: true, name: 'Open Cafe' } });
    expect(await saved()).to.not.include('Open Cafe');
    expect((await send('DELETE', `${BASE}/client/configured/Open%20Cafe`)).status).to.equal(404);
  });

  it('the page joins a network whose name is not UTF-8', async function () {
    if (noBrowser() !== null) return this.skip();
    const hex = Buffer.from('100% Kaffee/\u00e4', 'latin1').toString('hex');
    const browser = await openBrowser();
    try {
      const page = await openPage(browser);
      await signIn(page, node.url, KEY, 'node/network');
      await page.getByRole('button', { name: 'Scan', exact: true }).click();
      await page.getByRole('button', { name: 'Join 100% Kaffee/\ufffd', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Join', exact: true }).click();
      await page.getByText('Joined 100% Kaffee/\ufffd', { exact: false }).waitFor();
    } finally {
      await browser.close();
    }
    expect(await saved()).to.include(hex);
    await send('DELETE', `${BASE}/client/configured/${hex}`);
  });

  it('joins and forgets a network with % in its name, and one whose name is not UTF-8', async () => {
    const named = { ssid: '100% Kaffee' };
    expect((await send('PUT', `${BASE}/client/join`, named)).body).to.include(named);
    const hex = Buffer.from('100% Kaffee/\u00e4', 'latin1').toString('hex');
    const joined = await send('PUT', `${BASE}/client/join`, { ssid_hex: hex });
    expect(joined.body).to.include({ ssid: '100% Kaffee/\ufffd' });
    expect(await saved()).to.include.members(['100% Kaffee', hex]);
    expect((await send('PUT', `${BASE}/client/join`, { ssid_hex: hex })).status).to.equal(200);
    expect((await saved()).filter((name) => name === hex)).to.have.length(1);
    expect((await send('PUT', `${BASE}/client/join`, { ssid_hex: hex, ...named })).status).to.equal(422);
    for (const name of ['100% Kaffee', hex]) {
      const path = `${BASE}/client/configured/${encodeURIComponent(name)}`;
      expect(await send('DELETE', path)).to.deep.equal({ status: 200, body: { forgot: true, name } });
      expect(await saved()).to.not.include(name);
    }
  });

  it('refuses a network in which each user has an account, and says so', async () => {
    const before = await saved();
    for (const passphrase of [undefined, 'correct horse']) {
      const { status, body } = await send('PUT', `${BASE}/client/join`, { ssid: 'eduroam', passphrase });
      expect([status, body['code']]).to.deep.equal([422, 'E_INVALID_VALUE']);
      expect(body['detail']).to.include('802.1X');
    }
    expect(await saved()).to.deep.equal(before);
  });

  it('joins a network with colons and backslashes in its name and in its passphrase; the passphrase is in no argument, log or audit', async () => {
    const passphrase = ' back\\slash: #; ';
    const { status, body } = await send('PUT', `${BASE}/client/join`, { ssid: 'weird:ssid\\x', passphrase });
    expect(body).to.include({ ssid: 'weird:ssid\\x' });
    expect(status).to.equal(200);
    expect(await active()).to.equal('weird:ssid\\x');
    expect(await manager.asked()).to.not.include('slash');
    expect(node.stderr).to.include('network_profile: done').and.not.include('slash');
    const audit = await readFile(join(node.paths.auditDir, 'audit.ndjson'), 'utf8');
    expect(audit).to.include('/network/client/join').and.to.include('weird:ssid').and.not.include('slash');
  });

  it('goes back to the network before when the passphrase is wrong, and says why', async () => {
    const before = await saved();
    const { status, body } = await send('PUT', `${BASE}/client/join`, {
      ssid: 'HomeNet',
      passphrase: 'wrong horse',
    });
    expect(status).to.equal(502);
    expect(body).to.include({ code: 'E_UPSTREAM', reverted: true });
    expect(body['detail']).to.match(
      /^NetworkManager: .*Secrets were required, but not provided\. wlan0 went back/,
    );
    expect(await active()).to.equal('weird:ssid\\x');
    expect(await saved()).to.have.members(before);
    expect(await readdir(node.paths.state)).to.not.include('network-change.json');
    expect(node.stderr + (await manager.asked())).to.not.include('wrong horse');
  });

  it('keeps one saved network of a name when it is joined again', async () => {
    const join2 = { ssid: 'HomeNet', passphrase: 'correct horse' };
    expect((await send('PUT', `${BASE}/client/join`, join2)).status).to.equal(200);
    expect((await send('PUT', `${BASE}/client/join`, join2)).status).to.equal(200);
    expect((await saved()).filter((name) => name === 'HomeNet')).to.have.length(1);
    // And without a passphrase takes the saved one.
    expect((await send('DELETE', `${BASE}/client`)).status).to.equal(200);
    expect((await send('PUT', `${BASE}/client/join`, { ssid: 'HomeNet' })).status).to.equal(200);
    expect(await active()).to.equal('HomeNet');
  });

  it('refuses a network that is not there, a protected one without passphrase, and a name that is too long, and changes nothing', async () => {
    const absent = await send('PUT', `${BASE}/client/join`, { ssid: 'Nowhere', passphrase: 'some thing' });
    expect(absent.status).to.equal(502);
    expect(absent.body['detail']).to.include('hears no network Nowhere');
    const bare = await send('PUT', `${BASE}/client/join`, { ssid: 'weird:ssid\\x' });
    expect(bare.status).to.equal(200); // it is saved
    await send('DELETE', `${BASE}/client/configured/weird%3Assid_x`);
    const closed = await send('PUT', `${BASE}/client/join`, { ssid: 'weird:ssid\\x' });
    expect(closed.status).to.equal(422);
    expect(closed.body['detail']).to.include('Send its passphrase');
    expect((await send('PUT', `${BASE}/client/join`, { ssid: 'ä'.repeat(17) })).status).to.equal(422);
    const short = await send('PUT', `${BASE}/client/join`, { ssid: 'HomeNet', passphrase: 'seven77' });
    expect(short.status).to.equal(422);
    expect(JSON.stringify(short.body)).to.not.include('seven77');
  });

  it('opens a hotspot, whose card is not taken by a join unless that is said', async () => {
    expect((await send('PUT', `${BASE}/hotspot`, { enabled: true })).body['detail']).to.include(
      'Send a passphrase',
    );
    const on = await send('PUT', `${BASE}/hotspot`, { enabled: true, passphrase: 'guests only', channel: 6 });
    expect(on.body).to.include({ enabled: true, running: true, interface: 'wlan0', channel: 6, open: false });
    const [file = ''] = (await readdir(manager.profiles)).filter((name) => name.startsWith('svc-'));
    expect(
      await Promise.all(
        (await readdir(manager.profiles)).map(async (name) => readFile(join(manager.profiles, name), 'utf8')),
      ).then((all) => all.join('\n')),
    )
      .to.include('method=shared')
      .and.include('address1=192.168.4.1/24')
      .and.include('type=blackhole');
    expect(file).to.not.equal('');

    const refused = await send('PUT', `${BASE}/client/join`, {
      ssid: 'HomeNet',
      passphrase: 'correct horse',
    });
    expect(refused).to.have.nested.property('body.code', 'E_HOTSPOT_ACTIVE');
    expect(refused.status).to.equal(409);
    // A join that fails brings the hotspot back.
    const failed = await send('PUT', `${BASE}/client/join`, {
      ssid: 'HomeNet',
      passphrase: 'wrong horse',
      stop_hotspot: true,
    });
    expect(failed.body).to.include({ code: 'E_UPSTREAM', reverted: true });
    expect(((await get(BASE)).body['hotspot'] as { running: boolean }).running).to.equal(true);
    const taken = await send('PUT', `${BASE}/client/join`, {
      ssid: 'HomeNet',
      passphrase: 'correct horse',
      stop_hotspot: true,
    });
    expect(taken.status).to.equal(200);
    expect((await get(BASE)).body['hotspot']).to.include({ enabled: false, running: false, open: false });
  });

  it('keeps the passphrase of the hotspot when it is not named again, and shares the uplink when asked', async () => {
    const on = await send('PUT', '/api/v1/ground-station/network/ap', { enabled: true, ssid: 'Field 1' });
    expect(on.body).to.include({ running: true, ssid: 'Field 1', open: false, share_uplink: false });
    const shared = await send('PUT', '/api/v1/ground-station/network/share_uplink', { enabled: true });
    expect(shared.body).to.deep.equal({ enabled: true, applied: true });
    const files = (await readdir(manager.profiles)).map(async (name) =>
      readFile(join(manager.profiles, name), 'utf8'),
    );
    const hotspot = (await Promise.all(files)).filter((text) => text.includes('mode=ap'));
    expect(hotspot).to.have.length(1);
    expect(hotspot[0]).to.include('psk=guests\\sonly').and.not.include('blackhole');
    const ground = await get('/api/v1/ground-station/network');
    expect(ground.body['ap']).to.include({ running: true, share_uplink: true });
    expect(ground.body).to.include({ share_uplink: true, modem_4g: null });
    const off = await send('PUT', `${BASE}/hotspot`, { enabled: false });
    expect(off.body, JSON.stringify(off.body)).to.include({ enabled: false, running: false });
    expect(node.stderr + (await manager.asked())).to.not.match(/guests(?: |\\s)only/);
  });

  it('goes back when svc-machine was killed in the middle of a join', async () => {
    await send('PUT', `${BASE}/client/join`, { ssid: 'HomeNet', passphrase: 'correct horse' });
    const uuid = (await manager.nmcli('-t', '-f', 'GENERAL.CON-UUID', 'device', 'show', 'wlan0'))
      .trim()
      .slice(17);
    const pending = {
      version: 1,
      interface: 'wlan0',
      before: uuid,
      uuid: '11111111-2222-4333-8444-555555555555',
      isNew: true,
    };
    await writeFile(node.paths.networkChange, JSON.stringify(pending), { mode: 0o600 });
    await manager.nmcli('device', 'disconnect', 'wlan0');
    await node.killAndAwaitSuccessor('svc-machine');
    for (;;) {
      const { status } = await send('DELETE', `${BASE}/client/configured/none`);
      if (status !== 409) break; // it is going back
    }
    expect(await active()).to.equal('HomeNet');
    expect(await readdir(node.paths.state)).to.not.include('network-change.json');
  });

  it('pins MAC addresses by a file of systemd that names where the card is, or its name', async () => {
    const adapters = async (): Promise<unknown> => (await get(`${BASE}/mac/adapters`)).body['adapters'];
    expect(await adapters()).to.deep.equal([
      { name: 'eth0', mac: '78:dd:08:d2:3d:43', pinned_mac: null, path: null, state: 'stable' },
      { name: 'wlan0', mac: '12:34:56:78:9a:bc', pinned_mac: null, path: null, state: 'candidate' },
    ]);
    const own = await send('POST', `${BASE}/mac/pin`, { iface: 'wlan0' });
    expect(own.body).to.deep.equal({ iface: 'wlan0', mac: '12:34:56:78:9a:bc', state: 'pinned' });
    const other = await send('POST', `${BASE}/mac/pin`, { iface: 'eth0', mac: '02-00-00-00-00-AA' });
    expect(other.body).to.deep.equal({ iface: 'eth0', mac: '02:00:00:00:00:aa', state: 'deferred' });
    const file = await readFile(join(manager.links, '10-svc-eth0.link'), 'utf8');
    expect(file).to.include('[Match]\nOriginalName=eth0\n').and.include('MACAddress=02:00:00:00:00:aa\n');
    expect(
      (await send('POST', `${BASE}/mac/pin`, { iface: 'eth0', mac: '01:00:5e:00:00:01' })).status,
    ).to.equal(422);
    expect((await send('POST', `${BASE}/mac/pin`, { iface: 'eth9' })).status).to.equal(404);
    expect((await send('DELETE', `${BASE}/mac/eth0`)).body).to.deep.equal({ iface: 'eth0', removed: true });
    expect((await send('DELETE', `${BASE}/mac/eth0`)).body).to.deep.equal({ iface: 'eth0', removed: false });
    expect(await readdir(manager.links)).to.deep.equal(['10-svc-wlan0.link']);
  });

  it('reads the mesh from batctl, and names what is missing', async () => {
    const none = await get('/api/v1/ground-station/mesh');
    expect(none.status).to.equal(501);
    expect(none.body).to.include({ code: 'E_NOT_IMPLEMENTED', missing: 'batman-adv' });
    await mkdir(join(manager.base, 'sys/module/batman_adv'));
    const { body } = await get('/api/v1/ground-station/mesh');
    expect(body).to.deep.include({
      up: true,
      mesh_iface: 'mesh0',
      algorithm: 'BATMAN_IV',
      clients: 2,
      selected_gateway: '02:ba:00:00:00:03',
    });
    expect(body['neighbors']).to.deep.equal([
      { mac: '02:ba:00:00:00:02', iface: 'mesh0', tq: null, last_seen_ms: 120 },
    ]);
    expect((await get('/api/v1/ground-station/mesh/routes')).body['routes']).to.deep.equal([
      { mac: '02:ba:00:00:00:03', next_hop: '02:ba:00:00:00:02', iface: 'mesh0', tq: 230, last_seen_ms: 40 },
    ]);
    const config = await send('PUT', '/api/v1/ground-station/mesh/config', { mesh_id: 'field', force: true });
    expect(config.body).to.deep.equal({
      mesh_id: 'field',
      carrier: '802.11s',
      channel: 1,
      bat_iface: 'bat0',
      applied: false,
    });
    expect((await get('/api/v1/ground-station/mesh/config')).body['mesh_id']).to.equal('field');
    await rm(join(manager.bin, 'batctl'));
    expect((await get('/api/v1/ground-station/mesh')).body).to.include({
      code: 'E_NOT_IMPLEMENTED',
      missing: 'batctl',
    });
  });

  it('says that NetworkManager is not running', async () => {
    await manager.stopDaemon();
    const { status, body } = await get(BASE);
    expect(status).to.equal(503);
    expect(body['detail']).to.include('NetworkManager is not running');
    expect((await send('PUT', `${BASE}/client/join`, { ssid: 'HomeNet' })).status).to.equal(503);
  });
});

const BATCTL = `#!/bin/sh
[ "$1 $2" = 'meshif bat0' ] || exit 1
case "$3" in
  mj) echo '{"version":"2024.0","algo_name":"BATMAN_IV","mesh_ifindex":7,"mesh_ifname":"bat0","hard_ifindex":4,"hard_ifname":"mesh0"}' ;;
  nj) echo '[{"hard_ifindex":4,"hard_ifname":"mesh0","last_seen_msecs":120,"neigh_address":"02:ba:00:00:00:02"}]' ;;
  oj) echo '[{"orig_address":"02:ba:00:00:00:03","best":true,"hard_ifname":"mesh0","neigh_address":"02:ba:00:00:00:02","last_seen_msecs":40,"tq":230},{"orig_address":"02:ba:00:00:00:03","hard_ifname":"mesh0","neigh_address":"02:ba:00:00:00:04","last_seen_msecs":40,"tq":90}]' ;;
  gwj) echo '[{"hard_ifname":"mesh0","orig_address":"02:ba:00:00:00:03","best":true,"tq":230,"router":"02:ba:00:00:00:02","bandwidth_up":20,"bandwidth_down":100}]' ;;
  tgj) echo '[{"client":"02:00:00:00:00:01"},{"client":"02:00:00:00:00:02"}]' ;;
esac
`;
