/**
 * Compiles the node into a folder: what runs without TypeScript, and what the packages are made of. Its packages are found from there.
 *   node deploy/build/main.ts [--checked] [--page DIR] [DIST]
 * With --checked the types were checked a moment ago (`npm run typecheck`), which is nearly all of the compiler's work; --page has the
 * page of these sources, which is built otherwise.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleProcesses } from './bundle-processes.ts';

/** What deploy/ready.js built it from; of no use elsewhere. */
const PAGE_STAMP = '.sources';
const checkout = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  options: { checked: { type: 'boolean', default: false }, page: { type: 'string' } },
  allowPositionals: true,
});
const dist = resolve(positionals[0] ?? join(checkout, 'dist'));
const node = (program: string, ...args: readonly string[]): void => {
  execFileSync(process.execPath, [join(checkout, program), ...args], { cwd: checkout, stdio: 'inherit' });
};

rmSync(dist, { recursive: true, force: true });
const check = values.checked ? ['--noCheck'] : [];
node('node_modules/.bin/tsc', '-p', 'tsconfig.build.json', '--outDir', dist, ...check);
for (const data of ['shared/vision/builtin', 'front/control/param-metadata/ardupilot.json'])
  cpSync(join(checkout, data), join(dist, data), { recursive: true });
const page = join(dist, 'residual/web/dist');
const settings = [
  '--config',
  'residual/web/vite.config.ts',
  '--configLoader',
  'native',
  '--logLevel',
  'warn',
];
if (values.page === undefined)
  node('node_modules/.bin/vite', 'build', ...settings, '--outDir', page, '--emptyOutDir');
else cpSync(values.page, page, { recursive: true, filter: (source) => basename(source) !== PAGE_STAMP });
node('deploy/build/oclif-manifest.js', dist);
await bundleProcesses(dist);
