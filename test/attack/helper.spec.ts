import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError, type ErrorCode } from '../../shared/errors.ts';
import { callsTo } from '../../shared/rpc/contract.ts';
import { HELPER } from '../../shared/rpc/helper.ts';
import { UNITS } from '../../shared/units.ts';
import { LoneHelper } from '../support/helper.ts';
import { ROOT } from '../support/node.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Connects to a socket as another user; prints `connected` or the system's error. */
const CONNECT = `
  const [, path, uid] = process.argv;
  if (uid !== undefined) { process.setgroups([]); process.setgid(Number(uid)); process.setuid(Number(uid)); }
  require('node:net').connect(path)
    .on('connect', function () { console.log('connected'); this.destroy(); })
    .on('error', (error) => console.log(error.code));
`;

function connectAs(path: string, ...uid: readonly string[]): string {
  return spawnSync(process.execPath, ['-e', CONNECT, path, ...uid], { encoding: 'utf8' }).stdout.trim();
}

async function refusal(call: Promise<unknown>): Promise<readonly [ErrorCode, string]> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.message];
    throw error;
  }
  throw new Error('it was not refused');
}

describe('svc-helper', () => {
  let helper: LoneHelper;
  beforeEach(async () => {
    helper = await LoneHelper.prepare();
    expect(await helper.start()).to.equal(null);
  });
  afterEach(async () => helper.stop());

  it('each operation runs its program with its arguments, and is in the log with its outcome', async () => {
    const { power, unit_restart, host_name } = callsTo(HELPER, {
      call: async (method, params) => helper.ask(method, params),
    });
    for (const action of ['reboot', 'poweroff'] as const)
      expect(await power({ action })).to.deep.equal({ done: true });
    for (const name of UNITS) await unit_restart({ name });
    await host_name({ name: 'drone-7' });
    expect(await helper.asked()).to.equal(
      [
        'systemctl [reboot]',
        'systemctl [poweroff]',
        ...UNITS.map((name) => `systemctl [restart] [${name}.service]`),
        'hostnamectl [set-hostname] [drone-7]',
        '',
      ].join('\n'),
    );
    await helper.kill('SIGTERM');
    for (const text of [
      'power: requested',
      'power: done',
      'unit_restart: done',
      'host_name: done',
      'drone-7',
    ])
      expect(helper.stderr).to.include(text);
  });

  it('its socket is one user’s: another one cannot open it (needs root, to be another one)', function () {
    const { mode, uid } = lstatSync(helper.socket);
    expect([mode & 0o777, uid]).to.deep.equal([0o600, process.getuid?.()]);
    if (!isRoot) return this.skip();
    chmodSync(helper.base, 0o755); // so that nothing but the socket's own mode is in the way
    expect(connectAs(helper.socket)).to.equal('connected');
    expect(connectAs(helper.socket, String(NOBODY))).to.equal('EACCES');
  });

  it('bounds what a tunnel device sends, and no other device', async () => {
    const sys = join(helper.base, 'sys');
    await mkdir(join(sys, 'class/net/drone-wfb'), { recursive: true });
    await mkdir(join(sys, 'class/net/eth0'));
    await writeFile(join(sys, 'class/net/drone-wfb/tun_flags'), '0x1001');
    await copyFile(join(helper.bin, 'systemctl'), join(helper.bin, 'tc'));
    await chmod(join(helper.bin, 'tc'), 0o755);
    await helper.kill('SIGTERM');
    await helper.start({ SVC_HELPER_SYS_DIR: sys });
    const ask = async (device: string) => helper.ask('tunnel_priority', { device, kbps: 2500 });
    // The machine's own ip knows no such device.
    expect(await ask('drone-wfb')).to.deep.equal({ done: true, fair: true, quick: false });
    const told = `echo "ip $*" >> "$(dirname "$0")/asked"; [ "$3" != show ] || echo`;
    for (const [route, quick] of [
      ['', false],
      ['unreachable; reboot dev drone-wfb src x', false],
      ['10.5.0.0/24 scope link src 10.5.0.2', true],
    ] as const) {
      await writeFile(join(helper.bin, 'ip'), `#!/bin/sh\n${told} '${route}'\n`, { mode: 0o755 });
      expect(await ask('drone-wfb'), route).to.deep.equal({ done: true, fair: true, quick });
    }
    expect((await helper.asked()).match(/ip -4 route change .*/g)).to.deep.equal([
      'ip -4 route change 10.5.0.0/24 dev drone-wfb proto kernel scope link src 10.5.0.2 rto_min 60ms',
    ]);
    expect(await helper.asked()).to.include(
      'tc [class] [replace] [dev] [drone-wfb] [parent] [1:] [classid] [1:10] [htb] [rate] [2500kbit] [ceil] [2500kbit]',
    );
    for (const device of ['eth0', 'nothing', '-x', '../eth0'])
      expect((await refusal(ask(device)))[0], device).to.equal('E_INVALID_VALUE');
  });

  it('gives one uplink a route of its own, and has a modem measure: nothing else of ip and mmcli', async () => {
    for (const name of ['ip', 'mmcli']) {
      await copyFile(join(helper.bin, 'systemctl'), join(helper.bin, name));
      await chmod(join(helper.bin, name), 0o755);
    }
    const done = { done: true };
    const way = { interface: 'wwan0', gateway: '10.64.0.1' };
    expect(await helper.ask('uplink_prefer', way)).to.deep.equal(done);
    expect(await helper.ask('uplink_release', {})).to.deep.equal(done);
    expect(await helper.ask('modem_signal', { modem: 3, seconds: 10 })).to.deep.equal(done);
    const asked = await helper.asked();
    for (const line of [
      'ip [-4] [route] [replace] [default] [via] [10.64.0.1] [dev] [wwan0] [onlink] [metric] [5] [proto] [242]',
      'ip [-4] [route] [flush] [exact] [default] [metric] [5] [proto] [242]',
      'mmcli [-m] [3] [--signal-setup=10]',
    ])
      expect(asked).to.include(line);
    const wrong: readonly (readonly ['uplink_prefer' | 'uplink_release' | 'modem_signal', object])[] = [
      ['uplink_prefer', { ...way, interface: '-6' }],
      ['uplink_prefer', { ...way, interface: 'a b' }],
      ['uplink_prefer', { ...way, gateway: '10.64.0.1 table 1' }],
      ['uplink_prefer', { ...way, gateway: 'fe80::1' }],
      ['uplink_prefer', { ...way, metric: 1 }],
      ['uplink_release', { proto: 'kernel' }],
      ['modem_signal', { modem: '0 --pin=1', seconds: 10 }],
      ['modem_signal', { modem: -1, seconds: 10 }],
      ['modem_signal', { modem: 0, seconds: 0 }],
    ];
    for (const [method, params] of wrong)
      expect((await refusal(helper.ask(method, params)))[0], JSON.stringify(params)).to.equal(
        'E_INVALID_VALUE',
      );
    expect(await helper.asked()).to.equal(asked);
  });

  it('answers phones while the node is not paired, switches Wi-Fi on, and takes passphrases off the card', async () => {
    const dns = join(helper.base, 'dnsmasq-shared.d');
    const card = join(helper.base, 'svc.yaml');
    await mkdir(dns);
    await writeFile(card, 'name: kite\nwifi: {ssid: Hall, passphrase: open sesame}\n# was: sesame open\n');
    const [size, inode] = [statSync(card).size, statSync(card).ino];
    for (const name of ['nft', 'iw', 'nmcli']) {
      await copyFile(join(helper.bin, 'systemctl'), join(helper.bin, name));
      await chmod(join(helper.bin, name), 0o755);
    }
    await helper.kill('SIGTERM');
    await helper.start({
      SVC_HELPER_SHARED_DNS_DIR: dns,
      SVC_BOOT_FILES: `${join(helper.base, 'none.yaml')}:${card}`,
    });
    const { captive_portal, wifi_on, first_boot_done } = callsTo(HELPER, {
      call: async (method, params) => helper.ask(method, params),
    });
    await captive_portal({ enabled: true, port: 8080 });
    expect(readFileSync(join(dns, 'svc-captive.conf'), 'utf8')).to.include('\naddress=/#/192.168.4.1\n');
    await captive_portal({ enabled: false, port: 8080 });
    expect(readdirSync(dns)).to.deep.equal([]);
    await wifi_on({ country: null });
    await wifi_on({ country: 'DE' });
    const clean = 'add table ip svc_captive; delete table ip svc_captive;';
    const rule = 'ip daddr { 192.168.4.1, 192.168.7.1 } tcp dport 80 redirect to :8080';
    expect(await helper.asked()).to.equal(
      [
        `nft [${clean} table ip svc_captive { chain in { type nat hook prerouting priority dstnat; ${rule}; }; };]`,
        `nft [${clean}]`,
        'nmcli [radio] [wifi] [on]',
        'nmcli [radio] [wifi] [on]',
        'iw [reg] [set] [DE]',
        '',
      ].join('\n'),
    );
    await first_boot_done({});
    await first_boot_done({}); // after a power cut
    const left = readFileSync(card, 'utf8');
    expect(left).to.include('name: kite').and.include('ssid: Hall').and.not.include('sesame');
    // The bytes were overwritten where they were.
    expect(statSync(card).ino).to.equal(inode);
    expect(statSync(card).size).to.be.at.least(size);

    await writeFile(card, 'passphrase: sesame');
    const [code, words] = await refusal(first_boot_done({}));
    expect([code, words.includes(card), words.includes('sesame')]).to.deep.equal(['E_STORE', true, false]);
    for (const params of [
      { enabled: true, port: 0 },
      { enabled: true },
      { port: 80 },
      { enabled: true, port: '80; flush' },
    ])
      expect((await refusal(helper.ask('captive_portal', params)))[0]).to.equal('E_INVALID_VALUE');
    for (const country of ['D', 'de', 'DE;', '-h', 'DEU', 7])
      expect((await refusal(helper.ask('wifi_on', { country })))[0]).to.equal('E_INVALID_VALUE');
    expect((await refusal(helper.ask('first_boot_done', { file: '/etc/shadow' })))[0]).to.equal(
      'E_INVALID_VALUE',
    );
  });

  it('what is not on its list, or does not fit, runs nothing and is in the log', async () => {
    for (const [method, params, code] of [
      ['shell', { command: 'id' }, 'E_NOT_IMPLEMENTED'],
      ['constructor', {}, 'E_NOT_IMPLEMENTED'],
      ['__proto__', {}, 'E_NOT_IMPLEMENTED'],
      ['power', {}, 'E_INVALID_VALUE'],
      ['power', null, 'E_INVALID_VALUE'],
      ['power', [], 'E_INVALID_VALUE'],
      ['power', { action: '--force' }, 'E_INVALID_VALUE'],
      ['power', { action: ['reboot'] }, 'E_INVALID_VALUE'],
      ['power', { action: 'halt' }, 'E_INVALID_VALUE'],
      ['power', { action: 'reboot', force: true }, 'E_INVALID_VALUE'],
      ['power', { action: 'reboot', argv: ['--force'] }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: 'sshd' }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: 'svc' }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: 'svc-hostapd.service' }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: 'svc-hostapd sshd' }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: '-H host' }, 'E_INVALID_VALUE'],
      ['unit_restart', { name: '--root=/tmp' }, 'E_INVALID_VALUE'],
      ['host_name', { name: '' }, 'E_INVALID_VALUE'],
      ['host_name', { name: '-H' }, 'E_INVALID_VALUE'],
      ['host_name', { name: '--static' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a-' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a.b' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a\n' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a\nb' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a\0' }, 'E_INVALID_VALUE'],
      ['host_name', { name: '$(reboot)' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'ä' }, 'E_INVALID_VALUE'],
      ['host_name', { name: 'a'.repeat(64) }, 'E_INVALID_VALUE'],
      ['host_name', { name: 7 }, 'E_INVALID_VALUE'],
    ] as const) {
      const [got] = await refusal(helper.ask(method, params));
      expect(got, `${method} ${JSON.stringify(params)}`).to.equal(code);
    }
    expect(await helper.asked()).to.equal('');
    await helper.kill('SIGTERM');
    expect(helper.stderr).to.include('unknown method: shell');
    expect(helper.stderr).to.include('svc-helper refuses unit_restart: name').and.to.include('sshd');
    // A name of the longest length is one.
    await helper.start();
    await helper.ask('host_name', { name: 'a'.repeat(63) });
  });

  it('a line without end, or that is no call, ends the connection; others are served', async () => {
    const call = `${JSON.stringify({ id: 1, method: 'power', params: { action: 'reboot' } })}\n`;
    for (const bytes of [
      'x'.repeat(9000),
      `POST / HTTP/1.1\r\n\r\n${call}`,
      `[]\n${call}`,
      `null\n${call}`,
    ]) {
      const socket = connect(helper.socket);
      socket.on('error', () => undefined); // a reset is one way to hang up
      const closed = once(socket.resume(), 'close');
      socket.write(bytes);
      await closed;
    }
    expect(await helper.asked()).to.equal('');
    await helper.ask('power', { action: 'reboot' });
    expect(await helper.asked()).to.equal('systemctl [reboot]\n');
  });

  it('a second operation is refused while one runs; one that hangs is killed after its time', async () => {
    helper.hang();
    const first = refusal(helper.ask('power', { action: 'reboot' }));
    const pid = await helper.hung();
    for (const [method, params] of [
      ['power', { action: 'poweroff' }],
      ['host_name', { name: 'x' }],
    ] as const) {
      const [code, words] = await refusal(helper.ask(method, params));
      expect([code, words]).to.deep.equal([
        'E_BUSY',
        'svc-helper is busy with power. Try again when that has ended.',
      ]);
    }
    expect(await first).to.deep.equal(['E_TIMEOUT', 'systemctl took longer than 5000 ms.']);
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    await helper.heal();
    await helper.ask('host_name', { name: 'x' });
    expect(await helper.asked()).to.equal('systemctl [reboot]\nhostnamectl [set-hostname] [x]\n');
  });

  it('an operation goes on when its caller hangs up, and keeps others out until it has ended', async () => {
    helper.hang();
    const socket = connect(helper.socket);
    socket.write(`${JSON.stringify({ id: 1, method: 'power', params: { action: 'reboot' } })}\n`);
    const pid = await helper.hung();
    socket.destroy();
    expect((await refusal(helper.ask('power', { action: 'reboot' })))[0]).to.equal('E_BUSY');
    process.kill(pid, 'SIGKILL');
  });

  it('killed in the middle: the caller is told, and its successor takes over with nothing left behind', async () => {
    const before = readdirSync(helper.base);
    helper.hang();
    const call = refusal(helper.ask('host_name', { name: 'half' }));
    const pid = await helper.hung();
    await helper.kill();
    expect((await call)[0]).to.equal('E_UPSTREAM');
    process.kill(pid, 'SIGKILL'); // systemd ends it with the unit
    await helper.heal();
    expect(await helper.start()).to.equal(null);
    expect(readdirSync(helper.base)).to.deep.equal(before);
    expect(await helper.ask('host_name', { name: 'whole' })).to.deep.equal({ done: true });
  });

  it('a program that fails says why; one that is not in its folders is named, whatever the caller’s PATH', async () => {
    writeFileSync(join(helper.bin, 'systemctl'), '#!/bin/sh\necho "Access denied" >&2\nexit 1\n');
    expect(await refusal(helper.ask('power', { action: 'reboot' }))).to.deep.equal([
      'E_UPSTREAM',
      'systemctl: Access denied',
    ]);
    await helper.kill('SIGTERM');
    // Neither the PATH nor a relative folder counts: they have it.
    const path = `${helper.bin}:${process.env['PATH'] ?? ''}`;
    await helper.start({ PATH: path, SVC_HELPER_PATH: `.:bin:${helper.base}` });
    expect(await refusal(helper.ask('power', { action: 'reboot' }))).to.deep.equal([
      'E_NOT_IMPLEMENTED',
      'This machine has no systemctl.',
    ]);
  });
});

describe('where svc-helper’s socket has to be', () => {
  let helper: LoneHelper;
  beforeEach(async () => {
    helper = await LoneHelper.prepare();
  });
  afterEach(async () => helper.stop());

  it('a live peer is not pushed aside, a dead one’s file is replaced, another file is left alone', async () => {
    const live = createServer().listen(helper.socket);
    await once(live, 'listening');
    expect(await helper.start()).to.equal(75);
    expect(helper.stderr).to.include('is in use by a running process');
    live.close();
    await once(live, 'close');

    expect(await helper.start()).to.equal(null);
    await helper.kill(); // leaves its file
    expect(lstatSync(helper.socket).isSocket()).to.equal(true);
    expect(await helper.start()).to.equal(null);
    await helper.ask('power', { action: 'reboot' });
    await helper.kill('SIGTERM');

    writeFileSync(helper.socket, 'precious');
    expect(await helper.start()).to.equal(1);
    expect(helper.stderr).to.include('exists and is not a socket');
  });

  it('a folder that others may write, or own, is refused', async () => {
    chmodSync(helper.base, 0o777);
    expect(await helper.start()).to.equal(1);
    expect(helper.stderr).to.include(`${helper.base} can be written by others`);
    if (!isRoot) return;
    chmodSync(helper.base, 0o755);
    chownSync(helper.base, NOBODY, NOBODY);
    expect(await helper.start()).to.equal(1);
    expect(helper.stderr).to.include(`${helper.base} belongs to user ${NOBODY}`);
  });

  it('systemd’s own socket is taken over, and left to systemd when the helper ends for want of work', async function () {
    if (spawnSync('systemd-socket-activate', ['--version']).status !== 0) return this.skip();
    const names = Object.entries(helper.env).map(([name, value]) => `--setenv=${name}=${value}`);
    const main = join(ROOT, 'bin/helper/main.ts');
    const command = [process.execPath, main, '--idle-ms', '2000'];
    const activated = spawn('systemd-socket-activate', ['-l', helper.socket, ...names, ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(activated, 'close');
    await once(activated.stderr, 'data'); // Listening on …
    expect(await helper.ask('power', { action: 'reboot' })).to.deep.equal({ done: true });
    expect(await ended).to.deep.equal([0, null]);
    expect(await helper.asked()).to.equal('systemctl [reboot]\n');
    expect(lstatSync(helper.socket).isSocket()).to.equal(true);
  });
});
