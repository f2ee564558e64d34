import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { minimal } from 'node-mavlink';
import packageJson from '../../package.json' with { type: 'json' };
import { encodeAs } from '../link/mavlink-samples.ts';
import { askAgain } from '../support/ask-again.ts';
import { ELSEWHERE, type Inside, watchLeaving, whatLeft } from '../support/leaving.ts';
import { type Ended, Machine, noMachines } from '../support/machine.ts';
import { ROOT } from '../support/node.ts';
import { anotherVersion, builtDeb } from '../support/svc-package.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { extensionUnitSuite } from './extension-unit.ts';

const FIRST = packageJson.version;
const SECOND = '77.0.0';
const BROKEN = '78.0.0';
/** Not five minutes. */
const TRIAL_MS = 8000;

/** A flight controller's serial port, a test picture for a camera. */
const CONFIG = `mavlink:
  source: serial:/dev/ttyACM0:115200
  endpoints: ['tcp:127.0.0.1:5790']
video:
  source: test
  radio: ''
`;
/** With every process that an installed node has. */
const WITH_VISION = `${CONFIG}vision:\n  detector: marker\n`;

/** Makes a serial port of a pseudo-terminal, and passes on to it what comes in. */
const SERIAL_PORT = `
open(my $port, '+<', '/dev/ptmx') or die; my $zero = pack('i', 0);
ioctl($port, 0x40045431, $zero) or die; my $number = pack('i', 0); ioctl($port, 0x80045430, $number) or die;
my $path = '/dev/pts/' . unpack('i', $number);
open(my $held, '+<', $path) or die; system("stty raw -echo <$path") and die;
system("touch /dev/ttyACM0; mount --bind $path /dev/ttyACM0; chgrp dialout $path; chmod 660 $path") and die;
$| = 1; print "ready\\n"; while (sysread(STDIN, my $bytes, 4096)) { syswrite($port, $bytes) }
`;

interface Status {
  readonly version: string;
  readonly profile: string;
  readonly fc_connected: boolean;
  readonly fc_port: string | null;
  readonly services: readonly { readonly name: string; readonly kind: string; readonly state: string }[];
}

const nameOf = (version: string): string => `svc_${version}.deb`;

describe('the package, installed on a booted Debian 12 without Node and without network', function () {
  this.timeout(600_000);
  let machine: Machine;
  let filesBefore: ReadonlySet<string>;

  before(async function () {
    if ((await noMachines()) !== null) return this.skip(); // needs root, debootstrap and systemd-container
    const folder = await tempDir();
    const deb = await builtDeb(folder);
    const debs = [deb, await anotherVersion(deb, SECOND)] as const;
    const broken = await anotherVersion(deb, BROKEN, async (tree) => {
      await writeFile(join(tree, 'dist/bin/supervisor/main.js'), 'process.exit(3);\n');
      // The large ones, which it does not come to use.
      for (const name of ['@seydx', 'onnxruntime-node']) await removeDir(join(tree, 'node_modules', name));
    });
    machine = await Machine.boot(async (root) => {
      await mkdir(join(root, 'var/debs'));
      for (const [index, version] of [FIRST, SECOND, BROKEN].entries())
        await copyFile([...debs, broken][index] ?? '', join(root, 'var/debs', nameOf(version)));
      // The disk of a test may lose what it likes.
      await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/test'), 'force-unsafe-io\n');
      const connections = join(root, 'etc/NetworkManager/system-connections');
      await mkdir(connections, { recursive: true });
      await writeFile(join(connections, 'home.nmconnection'), '');
      const update = join(root, 'etc/systemd/system/svc-update.service.d');
      await mkdir(update, { recursive: true });
      await writeFile(join(update, 'test.conf'), `[Service]\nEnvironment=SVC_UPDATE_TRIAL_MS=${TRIAL_MS}\n`);
    });
    await removeDir(folder);
    await watchLeaving(network);
    await writeFile(join(machine.root, 'etc/resolv.conf'), `nameserver ${ELSEWHERE}\n`);
    filesBefore = await files();
    await mkdir(join(machine.root, 'etc/svc'));
    await writeFile(join(machine.root, 'etc/svc/config.yaml'), WITH_VISION);
  });
  after(async () => machine?.destroy());

  const network: Inside = async (...command) => machine.network(...command);
  const aptArgs = (version: string): readonly string[] => [
    'apt-get',
    'install',
    '-y',
    '--no-install-recommends', // apt would fetch them
    `/var/debs/${nameOf(version)}`,
  ];
  const apt = async (version: string): Promise<Ended> => machine.ended(...aptArgs(version));
  const status = async (): Promise<Status> =>
    JSON.parse(await machine.inside('svc', 'status', '--json')) as Status;
  const unit = async (name: string, property: string): Promise<string> =>
    machine.inside('systemctl', 'show', '-P', property, name);
  const kept = async (name: string): Promise<string> =>
    (await readFile(join(machine.root, 'var/lib/svc-update', name), 'utf8')).trim();

  /** Every file of the machine, but what apt, dpkg and systemd keep for themselves. */
  async function files(): Promise<ReadonlySet<string>> {
    const all = await readdir(machine.root, { recursive: true });
    // var/run is a link to /run, which from here is that of this machine.
    const theirs =
      /^var\/(?:cache|log|tmp|run|lock|lib\/(?:apt|dpkg|systemd)|backups)(?:\/|$)|^(?:dev|tmp|run)\//;
    return new Set(all.filter((path) => !theirs.test(path)));
  }

  /** Starts an installation and ends it with SIGKILL as soon as `folder` changes so. */
  async function cutOff(version: string, folder: string, when: (name: string) => boolean): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      const watcher = watch(join(machine.root, folder), (_, name) => {
        if (!when(name ?? '')) return;
        watcher.close();
        resolve();
      });
    });
    const install = machine.spawn(...aptArgs(version));
    install.stdout.resume();
    const gone = once(install, 'exit');
    await Promise.race([changed, gone]);
    // More than once: one that is killed may just have started another.
    const kill =
      'for round in 1 2 3 4 5; do for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in apt-get | dpkg | svc.postinst | postinst) kill -9 ${p#/proc/} ;; esac; done; done';
    await machine.ended('sh', '-c', kill);
    await gone;
  }

  // In suites, because mocha runs the tests of a suite before the suites in it.
  describe('installed', () => {
    it('is installed by apt without network; the node is ready and flies by its serial port', async () => {
      const controller = machine.spawn('perl', '-e', SERIAL_PORT);
      for await (const line of createInterface(controller.stdout)) if (line === 'ready') break;
      let seq = 0;
      const heartbeat = Object.assign(new minimal.Heartbeat(), { type: 2, autopilot: 3, mavlinkVersion: 3 });
      const beats = setInterval(() => controller.stdin.write(encodeAs(heartbeat, 'v2', seq++ & 0xff)), 300);
      try {
        const { code, stdout, stderr } = await apt(FIRST);
        expect(code, stdout + stderr).to.equal(0);
        expect(await unit('svc.service', 'ActiveState')).to.equal('active');
        expect(await unit('svc.service', 'UnitFileState')).to.equal('enabled');
        expect(await unit('svc-helper.socket', 'ActiveState')).to.equal('active');
        while (!(await status()).fc_connected) await machine.inside('true');
        expect(await status()).to.include({ version: FIRST, profile: 'drone', fc_port: '/dev/ttyACM0' });
        const doctor = await machine.ended('svc', 'doctor', '--json');
        const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; result: string }[] };
        // A machine in a machine has no control group of memory.
        const wrong = checks.filter(
          ({ name, result }) => /warn|fail/.test(result) && name !== 'memory limits',
        );
        expect(wrong).to.deep.equal([]);
        expect(doctor.code).to.equal(0);
      } finally {
        clearInterval(beats);
        controller.stdin.end();
        await once(controller, 'exit');
      }
    });

    it('answers over the network with its page, sees the camera, and runs as nobody else than svc', async () => {
      const look = `
        const api = (path) => fetch('http://127.0.0.1:8080' + path);
        const page = await (await api('/')).text();
        const [, script] = /<script[^>]* src="([^"]+)"/.exec(page);
        let fps = null;
        while (fps === null) fps = (await (await api('/api/video')).json()).fps ?? null;
        console.log(JSON.stringify({ script: (await api(script)).status, health: await (await api('/healthz')).json() }));`;
      const node = '/opt/svc/current/node_modules/.bin/node';
      const seen = await machine.inside(node, '--input-type=module', '-e', look);
      expect(JSON.parse(seen)).to.deep.include({ script: 200, health: { status: 'ok', version: FIRST } });
      const group = await unit('svc.service', 'ControlGroup');
      const owners = await machine.inside(
        'sh',
        '-c',
        `for p in $(cat /sys/fs/cgroup${group}/cgroup.procs); do stat -c %U /proc/$p; done | sort | uniq -c`,
      );
      expect(owners).to.match(/^\d+ svc$/);
      expect(Number(owners.split(' ')[0])).to.be.greaterThan(4);
      expect(await machine.inside('dpkg', '--verify', 'svc')).to.equal('');
      expect(await machine.inside('stat', '-c', '%U:%G %a', '/etc/svc')).to.equal('svc:svc 750');
    });

    it('systemd finds every unit safe', async () => {
      const names = [
        'svc',
        'svc-helper',
        'svc-wfb',
        'svc-connector',
        'svc-update',
        'svc-firewall',
        'svc-usb-gadget',
        'svc-plugin@x',
      ];
      const units = names.map((name) => `${name}.service`);
      const program = ['systemd-analyze', 'security', '--no-pager', '--threshold=30'];
      const { code, stdout } = await machine.ended(...program, ...units);
      expect(code, stdout).to.equal(0);
    });

    it('the updater takes over what was sent, with no right but the group of the node', async () => {
      // The flight controller is unplugged, so that nobody knows whether its vehicle is armed.
      const { code, stderr } = await machine.ended('svc', 'update', '/etc/hostname', '--wait', '--force');
      expect(code).to.equal(1);
      expect(stderr.replaceAll(/\s+›?\s*/g, ' ')).to.include('it is damaged or no bundle');
    });

    it('the hub may start its broker so that it ends with it', async () => {
      const hub = await readFile(
        join(ROOT, 'deploy/hub/root/usr/lib/systemd/system/svc-hub.service'),
        'utf8',
      );
      const rights = /^(?:SystemCall|NoNewPrivileges|CapabilityBoundingSet|Restrict).*$/gm;
      const limits = [...hub.matchAll(rights)].flatMap(([line]) => ['-p', line]);
      expect(limits.length).to.be.above(8);
      const start = ['setpriv', '--pdeathsig', 'KILL', 'true'];
      const { code, stderr } = await machine.ended(
        'systemd-run',
        '--quiet',
        '--wait',
        '--pipe',
        '-p',
        'User=nobody',
        ...limits,
        ...start,
      );
      expect(code, stderr).to.equal(0);
    });

    it('the connector serves AI clients with the credential in its file', async () => {
      const svc = async <T>(...args: readonly string[]): Promise<T> =>
        JSON.parse(await machine.inside('svc', ...args, '--json')) as T;
      const { api_key: key } = await svc<{ readonly api_key: string }>('pair');
      await svc('mcp', 'enable');
      const minted = ['mcp', 'mint', '--label', 'unit', '--scope', 'read'] as const;
      const { token } = await svc<{ readonly token: string }>(...minted);
      const env = join(machine.root, 'etc/svc/connector.env');
      await writeFile(env, `SVC_MCP_AGENT_KEY=${key}\n`, { mode: 0o600 });
      await machine.inside('systemctl', 'start', 'svc-connector.service');
      const ask = `
        const at = 'http://127.0.0.1:8091';
        let health = null;
        while (health === null) health = await fetch(at + '/healthz').then((answer) => answer.json(), () => null);
        const headers = { authorization: 'Bearer ' + process.argv[1], accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
        const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'unit', version: '1' } };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
        const answer = await fetch(at + '/mcp', { method: 'POST', headers, body });
        console.log(JSON.stringify({ health, status: answer.status, text: await answer.text() }));`;
      const seen = await machine.inside(
        '/opt/svc/current/node_modules/.bin/node',
        '--input-type=module',
        '-e',
        ask,
        token,
      );
      expect(JSON.parse(seen), seen)
        .to.deep.include({ status: 200 })
        .and.nested.include({ 'health.ok': true });
      expect(await machine.inside('ls', '/var/lib/private/svc-connector/.svc/mcp')).to.include(
        'audit.ndjson',
      );
      await machine.inside('systemctl', 'stop', 'svc-connector.service');
      await machine.inside('svc', 'unpair');
    });

    it('is a ground station as well, and its authors’ commands work', async () => {
      const config = join(machine.root, 'etc/svc/config.yaml');
      await writeFile(config, `agent:\n  profile: ground-station\n${CONFIG.replace(/serial:.*/, 'auto')}`);
      await machine.inside('systemctl', 'restart', 'svc.service');
      expect((await status()).profile).to.equal('ground-station');
      expect((await machine.ended('svc', 'doctor')).code).to.equal(0);
      await writeFile(config, CONFIG.replace(/serial:.*/, 'sim'));
      await machine.inside('systemctl', 'restart', 'svc.service');
      expect(await status()).to.include({ profile: 'drone', version: FIRST });
      const tried = await machine.ended(
        'sh',
        '-c',
        'cd /tmp && svc plugin init demo && svc plugin test demo; rm -r demo',
      );
      expect(tried.code, tried.stdout + tried.stderr).to.equal(0);
    });

    it('has sent nothing to anybody but its announcements by mDNS', async () => {
      expect((await whatLeft(network)).other).to.deep.equal([]);
      await machine.inside('getent', 'hosts', 'somewhere.test');
      expect((await whatLeft(network)).other.join(), 'the count works').to.match(
        /^[\d.]+ \. (?:udp|17) \. 53$/,
      );
    });
  });

  describe('an extension as a unit', () => extensionUnitSuite(() => machine));

  describe('replaced and removed', () => {
    it('cut off while it unpacks another version: the first one runs on, and is started again', async () => {
      await cutOff(SECOND, 'opt/svc/package/dist', () => true);
      await machine.inside('systemctl', 'restart', 'svc.service');
      expect((await status()).version).to.equal(FIRST);
    });

    it('cut off while the other version is on trial: dpkg goes on with it', async () => {
      await machine.inside('dpkg', '--configure', '-a');
      await cutOff(SECOND, 'var/lib/svc-update', (name) => name === 'trial');
      const { code, stdout, stderr } = await machine.ended('dpkg', '--configure', '-a');
      expect(code, stdout + stderr).to.equal(0);
      expect(stdout).to.include('on trial until');
      expect((await status()).version).to.equal(SECOND);
      const trial = join(machine.root, 'var/lib/svc-update/trial');
      await askAgain(
        'the trial',
        async () => existsSync(trial),
        (isOn) => !isOn,
      );
      expect((await status()).version).to.equal(SECOND);
      expect(await kept('previous')).to.equal(FIRST);
      const versions = await readdir(join(machine.root, 'opt/svc/versions'));
      expect(versions.toSorted()).to.deep.equal([FIRST, SECOND]);
    });

    it('a version that does not start gives way to the one before, and the installation fails saying so', async () => {
      const { code, stdout, stderr } = await apt(BROKEN);
      expect(code).to.not.equal(0);
      expect(stdout + stderr).to.include(`version ${SECOND} is in place`);
      expect((await status()).version).to.equal(SECOND);
      expect(await kept('returned')).to.equal(`${SECOND} ${BROKEN}`);
    });

    it('back to the first version, which was kept', async () => {
      expect((await machine.ended('/opt/svc/svc-switch', 'back')).code).to.equal(0);
      await machine.inside('systemctl', 'restart', 'svc.service');
      expect((await status()).version).to.equal(FIRST);
    });

    it('removed: stopped, and its settings stay; purged: nothing of it is left, and nothing else is gone', async () => {
      await writeFile(join(machine.root, 'etc/NetworkManager/system-connections/svc-1.nmconnection'), '');
      const removed = await machine.ended('apt-get', 'remove', '-y', 'svc');
      expect(removed.code, removed.stderr).to.equal(0);
      expect(
        await machine.inside(
          'systemctl',
          'list-units',
          // Not what systemd only remembers the name of.
          '--state=active,activating,deactivating,failed',
          '--no-legend',
          'svc*.service',
          'svc*.socket',
          'svc*.timer',
        ),
      ).to.equal('');
      expect(existsSync(join(machine.root, 'etc/svc/config.yaml'))).to.equal(true);
      expect(existsSync(join(machine.root, 'var/lib/svc/audit'))).to.equal(true);
      expect(existsSync(join(machine.root, 'opt/svc'))).to.equal(false);
      const purged = await machine.ended('apt-get', 'purge', '-y', 'svc');
      expect(purged.code, purged.stderr).to.equal(0);
      const left = await files();
      expect([...left].filter((path) => !filesBefore.has(path))).to.deep.equal([]);
      expect([...filesBefore].filter((path) => !left.has(path))).to.deep.equal([]);
      expect(
        await machine.inside('sh', '-c', 'ls -d /run/svc*; getent passwd svc; getent group svc'),
      ).to.equal('');
    });
  });
});
