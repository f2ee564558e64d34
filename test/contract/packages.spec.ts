import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';

interface LockedPackage {
  /** Where it is not the one that the path says. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly engines?: object;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

describe('what npm ci installs', () => {
  it('is pinned by its content, every package of it', () => {
    const open = Object.entries(packages).filter(
      ([path, { integrity }]) => path !== '' && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(open).to.deep.equal([]);
  });

  it('brings the Node that runs the node, the same one for both processors, without a script', () => {
    const [x64, arm64] = ['x64', 'arm64'].map((cpu) => packages[`node_modules/node-linux-${cpu}`]);
    expect(x64?.version).to.match(/^24\.\d+\.\d+$/);
    expect(arm64?.version).to.equal(x64?.version);
    for (const runtime of [x64, arm64]) expect(runtime?.hasInstallScript ?? false).to.equal(false);
    const version = execFileSync(join(ROOT, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' });
    expect(version).to.equal(`v${x64?.version}\n`);
  });

  it('leaves no program out where an old Node runs npm: no optional package names the Node that it wants', () => {
    // npm passes them over in silence, and the page's compiler is one; they run on the Node that npm brings. Mended in
    // package-lock.json: npm run lock
    const choosy = Object.entries(packages).filter(
      ([, { optional, devOptional, engines }]) => (optional ?? devOptional) && engines !== undefined,
    );
    expect(choosy.map(([path]) => path)).to.deep.equal([]);
  });

  it('runs no install script, whichever npm it is', () => {
    const settings = readFileSync(join(ROOT, '.npmrc'), 'utf8');
    expect(settings).to.match(/^ignore-scripts=true$/m);
  });

  it('has no compiler, generator or downloader in production: what replaces them is empty', () => {
    const unwanted = /\/(?:@typescript\/.*|typescript|ts-node|mediabunny|unzipper)$/;
    const installed = Object.entries(packages).filter(
      ([path, { dev }]) => dev !== true && unwanted.test(path),
    );
    expect(installed.map(([path]) => path.replace(/.*node_modules\//, '')).toSorted()).to.deep.equal([
      'mediabunny',
      'ts-node',
      'typescript',
      'unzipper',
    ]);
    expect([...new Set(installed.map(([, { name }]) => name))]).to.deep.equal(['empty-npm-package']);
  });
});
