import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { globSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { fits } from '../../bin/doctor/machine.ts';
import { mayCutOf } from '../../deploy/package/svc-deb.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { needs } from '../support/needs.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const UNITS = join(ROOT, 'deploy/root/usr/lib/systemd/system');
const SWITCH = join(ROOT, 'deploy/svc-switch');

/** Runs a program to its end; neither its time nor its environment is open. */
function run(program: string, args: readonly string[], path = process.env['PATH']): SpawnSyncReturns<string> {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 30_000, env: { PATH: path, LC_ALL: 'C' } });
}

function textOf(unit: string): string {
  return readFileSync(join(UNITS, unit), 'utf8');
}

/** A unit's settings, in order; a name may come twice. */
function settings(unit = 'svc.service'): readonly (readonly [string, string])[] {
  const lines = textOf(unit).matchAll(/^(?!#)([A-Za-z]+)=(.*)$/gm);
  return [...lines].map(([, name = '', value = '']) => [name, value]);
}

/** Every path below a folder with its type, mode and content. */
function snapshot(folder: string): readonly string[] {
  return globSync('**/*', { cwd: folder })
    .concat(globSync('**/.*', { cwd: folder }))
    .toSorted()
    .map((path) => {
      const full = join(folder, path);
      const stat = lstatSync(full);
      if (stat.isSymbolicLink()) return `${path} -> ${readlinkSync(full)}`;
      const mode = (stat.mode & 0o7777).toString(8);
      return stat.isDirectory() ? `${path}/ ${mode}` : `${path} ${mode} ${readFileSync(full, 'utf8')}`;
    });
}

describe('the units', () => {
  it('are ones that systemd understands', async function () {
    needs(this, 'systemd-analyze');
    // Their program is not installed on this machine; another one stands for it, so that nothing at all may be complained of.
    const base = await tempDir();
    const units = readdirSync(UNITS);
    for (const unit of units) {
      const text = textOf(unit).replace(/^(Exec[A-Za-z]+)=.*$/gm, '$1=/bin/true');
      await writeFile(join(base, unit), text.replace(/^Documentation=.*\n/m, ''));
    }
    const { status, stderr } = run('systemd-analyze', [
      'verify',
      '--man=no',
      ...units.map((unit) => join(base, unit)),
    ]);
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
    await removeDir(base);
  });
});

describe('the units of svc-helper', () => {
  it('the socket is the user’s of the node alone, and where the node looks for it', () => {
    const { helperSocket } = pathsFrom({});
    const node = new Map(settings());
    expect(Object.fromEntries(settings('svc-helper.socket'))).to.include({
      ListenStream: helperSocket,
      SocketUser: node.get('User') ?? '',
      SocketMode: '0600',
    });
    // The node's run directory is its own to write, and goes away with it.
    expect(helperSocket).to.not.match(/^\/run\/svc\//);
    expect(node.get('Wants')).to.equal('svc-helper.socket');
  });

  it('the service is root without capabilities but that of the radio’s cards, and without addresses or environment', () => {
    const helper = settings('svc-helper.service');
    expect(Object.fromEntries(helper)).to.include({
      CapabilityBoundingSet: 'CAP_NET_ADMIN',
      RestrictAddressFamilies: 'AF_UNIX AF_NETLINK',
      IPAddressDeny: 'any',
      PrivateDevices: 'yes',
      ProtectSystem: 'strict',
      NoNewPrivileges: 'yes',
      StartLimitIntervalSec: '0', // a socket whose service failed too often would be closed for good
    });
    const names = helper.map(([name]) => name);
    // A folder that the user svc may write could hold code for root: compile caches, modules, programs.
    for (const name of ['User', 'Environment', 'EnvironmentFile']) expect(names).to.not.include(name);
    for (const [name, value] of settings())
      if (name.startsWith('Exec')) expect(value).to.match(/^\+?\/opt\/svc\//);
  });
});

describe('the unit svc.service', () => {
  it('says what the supervisor relies on', () => {
    const unit = new Map(settings());
    expect(Object.fromEntries(unit)).to.include({
      Type: 'notify',
      NotifyAccess: 'all', // the messages come from systemd-notify
      WatchdogSec: '30',
      Restart: 'always',
      RestartSec: '1',
      StartLimitIntervalSec: '0', // never given up
      KillMode: 'mixed',
      TimeoutStopSec: '25',
      User: 'svc',
      RuntimeDirectory: 'svc',
      StateDirectory: 'svc',
      ConfigurationDirectory: 'svc',
      ProtectSystem: 'strict',
      NoNewPrivileges: 'yes',
    });
    expect(unit.get('SupplementaryGroups')?.split(' ')).to.include.members(['dialout', 'video']);
    expect(unit.get('MemoryMax')).to.match(/^\d+M$/);
  });

  it('keeps the serial ports, the cameras and the compiler of V8 usable', () => {
    const names = settings().map(([name]) => name);
    // ProtectClock allows one device, and systemd before 253 then forbids every other.
    for (const name of [
      'PrivateDevices',
      'ProtectClock',
      'DevicePolicy',
      'DeviceAllow',
      'MemoryDenyWriteExecute',
    ])
      expect(names).to.not.include(name);
  });
});

describe('the version of a package', () => {
  let base: string;
  beforeEach(async () => {
    base = await tempDir();
  });
  afterEach(async () => removeDir(base));

  /** What dpkg leaves: it gives each file an inode of its own. */
  async function unpack(files: Readonly<Record<string, string>>): Promise<void> {
    const folder = join(base, 'opt/svc/package');
    await rm(folder, { recursive: true, force: true });
    for (const [path, text] of Object.entries({ 'bin/svc': 'svc', ...files })) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text, { mode: 0o755 });
    }
  }

  function svcSwitch(...args: readonly string[]): void {
    const env = { PATH: process.env['PATH'], SVC_SWITCH_ROOT: base };
    const { status, stderr } = spawnSync('sh', [SWITCH, ...args], { encoding: 'utf8', timeout: 30_000, env });
    expect(status, stderr).to.equal(0);
  }
  const install = (version: string): void => {
    svcSwitch('adopt', version);
    svcSwitch('set', version);
  };
  const UNIT = 'deploy/root/usr/lib/systemd/system';

  it('installed twice is the same, and stays when dpkg removes its own', async () => {
    await unpack({ 'dist/a.js': 'a', [`${UNIT}/svc.service`]: '[Unit]' });
    install('1.0.0');
    const first = snapshot(base);
    install('1.0.0');
    const hidden = (line: string): boolean => line.includes('/.'); // of the switch itself
    expect(snapshot(base).filter((line) => !hidden(line))).to.deep.equal(
      first.filter((line) => !hidden(line)),
    );
    expect(first).to.include.members([
      'opt/svc/current -> versions/1.0.0',
      'opt/svc/versions/1.0.0/dist/a.js 755 a',
      'usr/lib/systemd/system/svc.service 755 [Unit]',
    ]);
    await rm(join(base, 'opt/svc/package'), { recursive: true });
    expect(readFileSync(join(base, 'opt/svc/current/dist/a.js'), 'utf8')).to.equal('a');
  });

  it('an upgrade leaves nothing of the version before outside of its own folder; the same version again has its new files', async () => {
    await unpack({ 'dist/a.js': 'a', [`${UNIT}/svc-old.service`]: '[Unit]' });
    install('1.0.0');
    await unpack({ 'dist/b.js': 'b', [`${UNIT}/svc.service`]: '[Unit]' });
    install('1.1.0');
    expect(readdirSync(join(base, 'usr/lib/systemd/system'))).to.deep.equal(['svc.service']);
    expect(readdirSync(join(base, 'opt/svc/current/dist'))).to.deep.equal(['b.js']);
    expect(readdirSync(join(base, 'opt/svc/versions/1.0.0/dist'))).to.deep.equal(['a.js']);
    await unpack({ 'dist/c.js': 'c' });
    install('1.1.0');
    expect(readdirSync(join(base, 'opt/svc/current/dist'))).to.deep.equal(['c.js']);
    expect(readdirSync(join(base, 'opt/svc/versions')).toSorted()).to.deep.equal(['1.0.0', '1.1.0']);
  });

  it('cut off while it replaces itself, it still runs, and the next time is whole', async () => {
    await unpack({ 'dist/a.js': 'a' });
    install('1.0.0');
    await unpack({ 'dist/b.js': 'b' });
    // The program that is to be the third one of its kind is not there: as if the power had gone.
    const bin = join(base, 'bin');
    await mkdir(bin);
    await writeFile(
      join(bin, 'cp'),
      `#!/bin/sh\n[ ! -e ${base}/once ] || exit 1\n: >${base}/once\nexec ${run('sh', ['-c', 'command -v cp']).stdout.trim()} "$@"\n`,
      { mode: 0o755 },
    );
    const env = { PATH: `${bin}:${process.env['PATH']}`, SVC_SWITCH_ROOT: base };
    expect(spawnSync('sh', [SWITCH, 'adopt', '1.0.0'], { env }).status).to.not.equal(0);
    expect(readdirSync(join(base, 'opt/svc/current/dist'))).to.deep.equal(['a.js']);
    install('1.0.0');
    expect(readdirSync(join(base, 'opt/svc/current/dist'))).to.deep.equal(['b.js']);
    expect(readdirSync(join(base, 'opt/svc/versions'))).to.deep.equal(['1.0.0']);
  });

  it('its user and groups, as systemd-sysusers makes them', async function () {
    needs(this, 'root', 'systemd-sysusers');
    await cp(join(ROOT, 'deploy/root'), base, { recursive: true });
    await mkdir(join(base, 'etc'), { recursive: true });
    const { status, stderr } = run('systemd-sysusers', [`--root=${base}`, 'svc.conf']);
    expect(status, stderr).to.equal(0);
    expect(readFileSync(join(base, 'etc/passwd'), 'utf8')).to.match(
      /^svc:x:\d+:\d+:svc node:\/var\/lib\/svc:\S*\/nologin$/m,
    );
    const group = readFileSync(join(base, 'etc/group'), 'utf8');
    for (const name of ['svc', 'dialout', 'video'])
      expect(group).to.match(new RegExp(`^${name}:x:\\d+:`, 'm'));
  });
});

describe('before the package is unpacked', () => {
  let base: string;
  /** What the programs of the machine print; null: they fail. */
  const FITS = {
    uname: 'aarch64',
    dpkg: 'arm64',
    getconf: 'glibc 2.36',
    systemctl: '',
    svc: '{"armed": false}',
  };
  beforeEach(async () => {
    base = await tempDir();
    await mkdir(join(base, 'bin'));
    await mkdir(join(base, 'run/systemd/system'), { recursive: true });
    await mkdir(join(base, 'var/lib/svc-update'), { recursive: true });
  });
  afterEach(async () => removeDir(base));

  async function preinst(
    machine: Readonly<Record<string, string | null>>,
    env: Readonly<Record<string, string>> = {},
    step = 'install',
  ): Promise<SpawnSyncReturns<string>> {
    for (const [name, text] of Object.entries({ ...FITS, ...machine })) {
      // `dpkg --compare-versions` is the real one.
      const real = name === 'dpkg' ? '[ "$1" != --compare-versions ] || exec /usr/bin/dpkg "$@"\n' : '';
      const body = text === null ? 'exit 1\n' : `printf %s '${text}'\n`;
      await writeFile(join(base, 'bin', name), `#!/bin/sh\n${real}${body}`, { mode: 0o755 });
    }
    const words = {
      VERSION: '1.2.3',
      ARCH: 'arm64',
      GLIBC: '2.28',
      SECURITY_FLOOR: '4',
      MAY_CUT: await mayCutOf(ROOT),
    };
    let text = readFileSync(join(ROOT, 'deploy/debian/preinst'), 'utf8');
    for (const [word, value] of Object.entries(words)) text = text.replaceAll(`@${word}@`, value);
    await writeFile(join(base, 'preinst'), text);
    return spawnSync('sh', [join(base, 'preinst'), step], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { PATH: `${base}/bin:/usr/sbin:/usr/bin:/sbin:/bin`, SVC_SWITCH_ROOT: base, ...env },
    });
  }

  it('a machine that fits: not a word', async () => {
    const { status, stdout, stderr } = await preinst({});
    expect([status, stdout, stderr]).to.deep.equal([0, '', '']);
  });

  for (const [what, machine, words] of [
    [
      'a kernel of 32 bits',
      { uname: 'armv7l', dpkg: 'armhf' },
      'the kernel of this machine (armv7l) has 32 bits',
    ],
    ['an old PC', { uname: 'i686', dpkg: 'i386' }, 'the kernel of this machine (i686) has 32 bits'],
    [
      'a system of 32 bits on a kernel of 64',
      { dpkg: 'armhf' },
      'the programs of this system have 32 bits (armhf)',
    ],
    [
      'another machine',
      { uname: 'x86_64', dpkg: 'amd64' },
      'this package is for arm64, and this machine is x86_64',
    ],
    [
      'an old C library',
      { getconf: 'glibc 2.27' },
      'this system has glibc 2.27, and 2.28 or newer is needed',
    ],
    ['musl', { getconf: null }, 'another C library than glibc'],
    [
      'a vehicle that is armed',
      { svc: '{\n  "armed": true\n}' },
      'does not say that the vehicle is disarmed',
    ],
  ] as const) {
    it(`${what}: refused, with the reason`, async () => {
      const { status, stderr } = await preinst(machine);
      expect(status).to.equal(1);
      expect(stderr)
        .to.match(/^svc 1\.2\.3: /)
        .and.include(words);
    });
  }

  it('armed, but forced, or the node does not run: installed', async () => {
    expect((await preinst({ svc: '{"armed": true}' }, { SVC_FORCE: '1' })).status).to.equal(0);
    expect((await preinst({ svc: '{"armed": true}', systemctl: 'inactive\n' })).status).to.equal(0);
  });

  it('a node of 1.0 that does not say that its vehicle is disarmed: refused, also where it says nothing', async () => {
    for (const svc of ['{"armed": "unknown"}', '', null])
      expect((await preinst({ svc })).stderr, String(svc)).to.include(
        'does not say that the vehicle is disarmed',
      );
  });

  describe('by what svc-link has written', () => {
    const now = (): number => Math.floor(uptime());
    const CASES: readonly (readonly [string, () => string, string | null])[] = [
      ['disarmed', () => `disarmed ${now()} ${now()}`, null],
      ['no vehicle, and none was heard', () => `disarmed never ${now()}`, null],
      ['armed', () => `armed ${now()} ${now()}`, 'the vehicle is armed'],
      ['unknown: heartbeats stay away', () => `unknown ${now() - 4} ${now()}`, 'the vehicle is armed'],
      [
        'silent svc-link, a vehicle was heard',
        () => `disarmed ${now() - 60} ${now() - 30}`,
        'svc-link does not answer',
      ],
      ['silent svc-link, long after the vehicle', () => `disarmed ${now() - 700} ${now() - 30}`, null],
      ['silent svc-link that heard no vehicle', () => `unknown never ${now() - 30}`, null],
      ['nonsense', () => 'x y z', 'nobody knows'],
      ['nothing, in a file of 0 bytes', () => '', 'nobody knows'],
      ['an unknown word', () => `resting ${now()} ${now()}`, 'the vehicle is armed'],
    ];
    for (const [what, line, refusal] of CASES)
      it(`${what}: ${refusal === null ? 'may be cut' : 'refused'}, by preinst and by svc-switch`, async () => {
        await mkdir(join(base, 'run/svc'), { recursive: true });
        await writeFile(join(base, 'run/svc/link-guard'), line() === '' ? '' : `${line()}\n`);
        // The node's own word does not count beside it.
        const { status, stderr } = await preinst({ svc: null }, {}, 'upgrade');
        const asked = spawnSync('sh', [SWITCH, 'may-cut'], {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'], SVC_SWITCH_ROOT: base },
        });
        expect([status, asked.status]).to.deep.equal(refusal === null ? [0, 0] : [1, 1]);
        for (const said of [stderr, asked.stderr]) expect(said).to.include(refusal ?? '');
        expect((await preinst({ svc: null }, { SVC_FORCE: '1' }, 'upgrade')).status).to.equal(0);
      });
  });

  it('below the security floor of this machine: refused; at it: installed', async () => {
    const floor = join(base, 'var/lib/svc-update/floor');
    await writeFile(floor, '5\n');
    expect((await preinst({}, {}, 'upgrade')).stderr).to.include(
      'security level 4, and this machine has had 5',
    );
    await writeFile(floor, '4\n');
    expect((await preinst({}, {}, 'upgrade')).status).to.equal(0);
  });

  it('another version is on trial: refused; this one, cut off: goes on', async () => {
    const trial = join(base, 'var/lib/svc-update/trial');
    await writeFile(trial, '1.0.0 1.1.0 started\n');
    expect((await preinst({}, {}, 'upgrade')).stderr).to.include('version 1.1.0 is on trial');
    await writeFile(trial, '1.0.0 1.2.3 started\n');
    expect((await preinst({}, {}, 'upgrade')).status).to.equal(0);
  });

  it('the scripts of the package are such that a shell understands them, and fetch nothing', () => {
    for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
      const file = join(ROOT, 'deploy/debian', name);
      expect(run('sh', ['-n', file]).stderr).to.equal('');
      expect(readFileSync(file, 'utf8')).to.not.match(/\b(?:curl|wget|npm|apt|apt-get)\b/);
    }
  });
});

describe('a checkout on a machine that does not fit', () => {
  let base: string;
  before(async () => {
    base = await tempDir();
    for (const file of ['bin/svc.js', 'deploy/finish-packages.js']) {
      await mkdir(join(base, file, '..'));
      await cp(join(ROOT, file), join(base, file));
    }
    await writeFile(join(base, 'package.json'), '{"type": "module"}');
  });
  after(async () => removeDir(base));

  /** Runs a file there with this as `process.arch`, on Node 20. */
  function runOn(arch: string, file: string): SpawnSyncReturns<string> {
    const pretend = `Object.defineProperties(process, {
      arch: { value: '${arch}' }, versions: { value: { ...process.versions, node: '20.0.0' } } })`;
    return run(process.execPath, ['--import', `data:text/javascript,${pretend}`, join(base, file)]);
  }

  it('of 32 bits: the command and npm say so in a sentence', () => {
    for (const file of ['bin/svc.js', 'deploy/finish-packages.js']) {
      const { status, stderr } = runOn('arm', file);
      expect([status, stderr], file).to.deep.equal([
        1,
        'svc needs a 64-bit system (amd64 or arm64); the programs of this one are for arm.\n',
      ]);
    }
  });

  it('of 64 bits, without the Node that npm brings: the command says what brings it', () => {
    const { status, stderr } = runOn('arm64', 'bin/svc.js');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc needs Node 24; this is v[\d.]+\. Run `npm ci` first\.\n$/);
    expect(runOn('arm64', 'deploy/finish-packages.js').status).to.equal(0);
  });

  it('svc doctor names what is wrong with it', () => {
    expect(fits('arm64', '2.36')).to.include({ result: 'ok', found: 'arm64, glibc 2.36.' });
    expect(fits('arm', '2.36'))
      .to.include({ result: 'fail' })
      .and.to.have.property('found')
      .that.includes('for arm;');
    expect(fits('x64', null))
      .to.include({ result: 'fail' })
      .and.to.have.property('found')
      .that.includes('glibc');
  });
});
