import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { checkPrograms } from '../../deploy/package/elf.ts';
import { debianVersion } from '../../deploy/package/svc-deb.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { failing } from '../support/hub.ts';
import { PACKAGES } from '../support/svc-package.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIB = 1024 * 1024;
/** With light compression; a package that is given away has to be below 130. */
const FAST_MIB = 170;
const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64';
const { version } = packageJson;

const exec = promisify(execFile);
const run = async (program: string, args: readonly string[], env = process.env): Promise<string> =>
  (await exec(program, args, { env, maxBuffer: 64 * MIB })).stdout;

/** Builds these into a folder, with the built code where there is one. */
async function build(
  out: string,
  umask: string,
  env: NodeJS.ProcessEnv = {},
  what: readonly string[] = ['svc', 'connector'],
): Promise<void> {
  const dist = existsSync(join(ROOT, 'dist/oclif.manifest.json')) ? ['--dist', join(ROOT, 'dist')] : [];
  const only = what.flatMap((name) => ['--only', name]);
  const args = ['--arch', ARCH, '--fast', ...only, '--out', out, ...dist];
  const main = join(ROOT, 'deploy/package/main.ts');
  await run('sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, main, ...args], {
    ...process.env,
    SOURCE_DATE_EPOCH: '1700000000',
    ...env,
  });
}

describe('packages', function () {
  this.timeout(900_000);
  let folder = '';
  let deb = '';
  let tgz = '';

  before(async () => {
    folder = await tempDir();
    if (PACKAGES === undefined) await build(join(folder, 'one'), '022');
    else await cp(PACKAGES, join(folder, 'one'), { recursive: true });
    deb = join(folder, 'one', `svc_${version}_${ARCH}.deb`);
    tgz = join(folder, 'one', `svc-connector_${version}.tgz`);
  });
  after(async () => removeDir(folder));

  it('are the same bytes when they are built again, with another umask, zone and language', async () => {
    await build(join(folder, 'two'), '077', { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' });
    for (const path of [deb, tgz]) {
      const again = await readFile(path.replace('/one/', '/two/'));
      expect(again.equals(await readFile(path)), path).to.equal(true);
    }
  });

  it('say what they are and what they need', async () => {
    const field = async (name: string): Promise<string> => (await run('dpkg-deb', ['-f', deb, name])).trim();
    expect(await field('Package')).to.equal('svc');
    expect(await field('Version')).to.equal(debianVersion(version));
    expect(await field('Architecture')).to.equal(ARCH);
    expect(await field('Depends')).to.match(
      /^libc6 \(>= 2\.\d+\), libgcc-s1, libstdc\+\+6 \(>= \d+\), systemd$/,
    );
    expect((await field('Recommends')).split(', ')).to.include.members(['network-manager', 'iw', 'wfb-ng']);
    expect((await stat(deb)).size).to.be.below(FAST_MIB * MIB);
  });

  it('hold a version that runs by itself, for this machine alone, and the licences of all that is in it', async () => {
    const root = join(folder, 'root');
    await run('dpkg-deb', ['-x', deb, root]);
    const listing = await run('dpkg-deb', ['-c', deb]);
    expect(listing.split('\n').filter((line) => line !== '' && !line.includes(' root/root '))).to.deep.equal(
      [],
    );
    expect(listing).to.match(/^-rwxr-xr-x .* \.\/opt\/svc\/svc-switch$/m);
    expect(listing).to.match(/ \.\/usr\/bin\/svc -> \/opt\/svc\/current\/bin\/svc$/m);
    const tree = join(root, 'opt/svc/package');
    const programs = await checkPrograms(tree, ARCH);
    expect(programs.some((path) => path.endsWith('/bin/node'))).to.equal(true);
    expect(listing).not.to.match(/\.musl\.node$|\.d\.ts$/m);
    const machines = [...listing.matchAll(/\/prebuilds\/([^/\n]+)\//g)].map(([, name]) => name);
    expect([...new Set(machines)]).to.deep.equal([`linux-${process.arch}`]);
    // No Node on the PATH, as on a machine where nothing else is installed.
    const bare = { PATH: '/usr/bin:/bin', HOME: folder };
    expect(await run(join(tree, 'bin/svc'), ['--version'], bare)).to.include(`svc/${version} `);
    expect(await run(join(tree, 'bin/svc-mcp'), ['--version'], bare)).to.equal(`${version}\n`);
    expect(await run(join(tree, 'bin/svc-conformance'), ['--help'], bare)).to.include('--url');
    const papers = join(root, 'usr/share/doc/svc');
    const { components } = JSON.parse(await readFile(join(papers, 'sbom.cdx.json'), 'utf8'));
    const names = components.map(({ name }: { name: string }) => name);
    expect(names).to.include.members([
      'Node.js',
      'FFmpeg',
      'libx264',
      'ONNX Runtime',
      'express',
      'node-mavlink',
    ]);
    expect(await readFile(join(papers, 'copyright'), 'utf8')).to.include('GNU General Public License');
    expect(await readFile(join(papers, 'third-party-licenses.txt'), 'utf8')).to.include('node-mavlink');
  });

  it('the hub runs by itself, with what is in its package alone', async () => {
    const out = join(folder, 'hub');
    await build(out, '022', {}, ['hub']);
    const root = join(folder, 'hub-root');
    await run('dpkg-deb', ['-x', join(out, `svc-hub_${version}_${ARCH}.deb`), root]);
    const tree = join(root, 'opt/svc-hub');
    const hub = async (...args: readonly string[]): Promise<string> =>
      run(join(tree, 'node_modules/.bin/node'), [join(tree, 'bin/svc-hub.js'), ...args], {
        PATH: '/usr/bin:/bin',
        SVC_HUB_DIR: join(folder, 'hub-files'),
      });
    expect(await hub('init')).to.match(/^first operator +svc_op_/m);
    expect(await hub('mosquitto')).to.include('listener 8883');
  });

  it('the connector is installed by npm without a network, and starts', async () => {
    const prefix = join(folder, 'prefix');
    await mkdir(prefix);
    const npm = ['install', '--global', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const cache = join(folder, 'empty-cache');
    await run('npm', [...npm, '--prefix', prefix, '--cache', cache, tgz]);
    expect(await run(join(prefix, 'bin/svc-mcp'), ['--version'])).to.equal(`${version}\n`);
    expect(await run(join(prefix, 'bin/svc-mcp'), ['--help'])).to.include('svc-mcp --target agent');
    const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.5.0"}})';
    const args = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, join(prefix, 'bin/svc-mcp')];
    const refused = await failing(run(process.execPath, args));
    expect(refused.stderr).to.match(/^svc-mcp needs Node 20\.12 or newer; this is v/);
  });
});
