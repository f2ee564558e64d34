import { spawnSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { lastWords } from '../../bin/supervisor/last-words.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const LOCKED = {
  '': {},
  'node_modules/ws': { version: '8.23.0' },
  'node_modules/vite': { version: '8.3.8', dev: true },
  'node_modules/@rolldown/binding-darwin-x64': { version: '1.2.19', optional: true },
};

describe('npm start in a checkout whose packages are not those of its lock', () => {
  let base: string;
  beforeEach(async () => {
    base = await tempDir();
    for (const folder of ['deploy', 'residual/web', 'shared', 'node_modules/ws'])
      await mkdir(join(base, folder), { recursive: true });
    for (const file of ['deploy/ready.js', 'deploy/finish-packages.js'])
      await cp(join(ROOT, file), join(base, file));
    await writeFile(join(base, 'package.json'), '{"type": "module"}');
    await writeFile(join(base, 'package-lock.json'), JSON.stringify({ packages: LOCKED }));
  });
  afterEach(async () => removeDir(base));

  /** @param installed what npm says that it has installed; null: nothing */
  async function ready(installed: object | null): Promise<{ status: number | null; stderr: string }> {
    if (installed !== null)
      await writeFile(join(base, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
    return spawnSync(process.execPath, [join(base, 'deploy/ready.js')], {
      encoding: 'utf8',
      timeout: 30_000,
    });
  }

  for (const [what, installed, said] of [
    ['nothing is installed', null, 'svc: node_modules is missing'],
    ['one is missing', {}, 'svc: ws 8.23.0 is missing'],
    ['one is older', { 'node_modules/ws': { version: '8.22.0' } }, 'svc: ws 8.23.0 is missing'],
    [
      'one of those for developers is missing, and others are there',
      { 'node_modules/ws': { version: '8.23.0' }, 'node_modules/vite': { version: '8.0.0' } },
      'svc: vite 8.3.8 is missing',
    ],
  ] as const)
    it(`${what}: it is named, with the command that mends it`, async () => {
      const { status, stderr } = await ready(installed);
      expect(status).to.equal(1);
      expect(stderr).to.include(said).and.include('Run: npm ci');
    });

  it('without those for developers the node starts, and one line says what the page needs', async () => {
    const { status, stderr } = await ready({ 'node_modules/ws': { version: '8.23.0' } });
    expect(status).to.equal(0);
    expect(stderr).to.match(/^svc: the page is not built, .*npm run build:web\n$/);
  });
});

describe('the last words of a process', () => {
  for (const [what, lines, last] of [
    [
      'that lacks a package',
      [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/pmtiles' imported from /opt/x.ts",
        '    at y',
        '',
        'Node.js v24.21.0',
      ],
      'The package @scope/pmtiles is missing, or of another version. Run: npm ci',
    ],
    [
      'with a package that lacks what is imported',
      ["SyntaxError: The requested module 'ws' does not provide an export named 'X'", 'Node.js v24.21.0'],
      'The package ws is missing, or of another version. Run: npm ci',
    ],
    [
      'that lacks a file of its own',
      [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/opt/svc/a.ts' imported from b",
        'Node.js v24.21.0',
      ],
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/opt/svc/a.ts' imported from b",
    ],
    [
      'that crashed',
      ['TypeError: x is no function', '    at y', '', 'Node.js v24.21.0'],
      'TypeError: x is no function',
    ],
    ['that was killed by the supervisor', ['svc-supervisor: killing svc-a'], 'svc-supervisor: killing svc-a'],
  ] as const)
    it(`${what} end with the reason`, () => {
      expect(lastWords(lines).at(-1)).to.equal(last);
    });
});
