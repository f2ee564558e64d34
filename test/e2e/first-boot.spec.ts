import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { firstBootFile } from '../../shared/first-boot/record.ts';
import { MockNetworkManager } from '../support/network/network-manager.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

/** Keeps what it was asked for, an argument in brackets. */
const PROGRAM = `#!/bin/sh
{ printf '%s' "$(basename "$0")"; printf ' [%s]' "$@"; echo; } >> "$(dirname "$0")/asked"
`;
const CARD = `profile: ground-station
name: Field drone 7
wifi: {ssid: HomeNet, passphrase: correct horse, country: DE}
hotspot: {passphrase: guests only}
`;

/** Resolves when the node has written that. */
async function said(node: TestNode, text: string): Promise<void> {
  while (!node.stderr.includes(text))
    await new Promise((resolve) => node.supervisor.stderr?.once('data', resolve));
}

describe('the first boot, with NetworkManager', function () {
  this.timeout(120_000);
  let manager: MockNetworkManager;
  let env: Readonly<Record<string, string>>;
  let card: string;
  let node: TestNode | null = null;

  before(async () => {
    manager = await MockNetworkManager.start();
    card = join(manager.base, 'svc.yaml');
    const dns = join(manager.base, 'dnsmasq-shared.d');
    await mkdir(dns);
    for (const name of ['hostnamectl', 'nft', 'iw']) {
      await writeFile(join(manager.bin, name), PROGRAM);
      await chmod(join(manager.bin, name), 0o755);
    }
    env = { ...manager.env, SVC_BOOT_FILES: card, SVC_HELPER_SHARED_DNS_DIR: dns };
  });
  afterEach(async () => {
    await node?.stop();
    node = null;
  });
  after(async () => manager?.stop());

  const connections = async (): Promise<string> => {
    const files = (await readdir(manager.profiles)).filter((name) => name.startsWith('svc-'));
    return (
      await Promise.all(files.map(async (name) => readFile(join(manager.profiles, name), 'utf8')))
    ).join('\n');
  };

  it('reads the card once: the node becomes what it says, joins its network, and the passphrases are gone', async () => {
    await writeFile(card, CARD);
    node = await TestNode.launch({ args: ['--helper'], env });
    await said(node, 'the node restarts, so that what the card says is in force');
    await node.until((services) => services.length > 1 && services.every(({ state }) => state === 'running'));
    for (;;) {
      const { body } = await node.json('/api/pairing/info').catch(() => ({ body: {} })); // it is starting again
      if ((body as { name?: string }).name === 'Field drone 7') break;
    }
    const { body } = await node.json('/api/pairing/info');
    expect(body).to.include({ name: 'Field drone 7', profile: 'ground-station', paired: false });
    expect(await manager.nmcli('-t', '-f', 'GENERAL.CONNECTION', 'device', 'show', 'wlan0')).to.include(
      'HomeNet',
    );
    expect(await connections())
      .to.include('psk=correct\\shorse')
      .and.include('mode=ap')
      .and.include('psk=guests\\sonly')
      .and.include('autoconnect=false');
    const left = await readFile(card, 'utf8');
    expect(left)
      .to.include('ssid: HomeNet')
      .and.not.match(/horse|guests/);
    const record = await firstBootFile(node.paths.firstBoot).load();
    expect(record?.parts?.filter(({ ok }) => !ok)).to.deep.equal([]);
    const asked = await manager.asked();
    expect(asked).to.include('hostnamectl [set-hostname] [field-drone-7]').and.include('iw [reg] [set] [DE]');
    expect(node.stderr + asked).to.not.match(/correct.{0,2}horse|guests.{0,2}only/);
    expect(node.stderr).to.match(
      /not paired yet; the page of the set-up: .*http:\/\/svc-[0-9a-f]{6}\.local:\d+\/setup/,
    );

    // Another start does not read it again.
    await writeFile(card, 'name: another');
    await node.killAndAwaitSuccessor('svc-control');
    expect((await node.json('/api/pairing/info')).body).to.include({ name: 'Field drone 7' });
    expect(node.stderr.split('first boot: reads ')).to.have.length(2);
    const doctor = await svc(node.paths, 'doctor');
    expect(doctor.stdout).to.match(/ok {3}first boot: .* was read and applied/);
    const status = await svc(node.paths, 'status');
    expect(status.stdout).to.include('not paired: its set-up is at http://');
  });

  it('opens a hotspot where no network is known; it ends when the node is paired and set up', async () => {
    await writeFile(card, 'nothing: of this');
    for (const name of ['HomeNet', 'svc-hotspot'])
      await manager.nmcli('connection', 'delete', name).catch(() => undefined); // what the test before has left
    node = await TestNode.start({ args: ['--helper'], env });
    await said(node, 'is refused, and nothing of it is applied: nothing is not known here');
    await said(node, 'first boot: join the Wi-Fi SVC-');
    const { body } = await node.json('/api/v1/network');
    expect(body['hotspot']).to.include({ running: true, enabled: false, open: true, interface: 'wlan0' });
    expect(await connections())
      .to.include('address1=192.168.4.1/24')
      .and.include('autoconnect=false');
    expect(await manager.asked())
      .to.include(`redirect to :${node.port}`)
      .and.include('[radio] [wifi] [on]');
    const dns = join(manager.base, 'dnsmasq-shared.d/svc-captive.conf');
    expect(await readFile(dns, 'utf8')).to.include('address=/#/192.168.4.1');

    const claim = await node.post('/api/pairing/claim', { user_id: 'test' });
    const key = { 'x-svc-key': String(claim.body['api_key']) };
    expect((await node.post('/api/setup/finish', {}, key)).status).to.equal(200);
    await said(node, 'the node is paired, so its open hotspot has ended');
    const after = await node.json('/api/v1/network', { headers: key });
    expect(after.body['hotspot']).to.include({ running: false, enabled: false });
    expect(await readdir(join(manager.base, 'dnsmasq-shared.d'))).to.deep.equal([]);
    expect(
      (await manager.asked())
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('nft '))
        .at(-1),
    ).to.equal('nft [add table ip svc_captive; delete table ip svc_captive;]');
  });
});
