/**
 * Compiles the node into a folder: what runs without TypeScript, and what the packages are made of. Its packages are found from there.
 *   node deploy/build/main.ts [DIST]
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleProcesses } from './bundle-processes.ts';

const checkout = resolve(import.meta.dirname, '../..');
const dist = resolve(process.argv[2] ?? join(checkout, 'dist'));
const node = (program: string, ...args: readonly string[]): void => {
  execFileSync(process.execPath, [join(checkout, program), ...args], { cwd: checkout, stdio: 'inherit' });
};

rmSync(dist, { recursive: true, force: true });
node('node_modules/.bin/tsc', '-p', 'tsconfig.build.json', '--outDir', dist);
for (const data of ['residual/vision/builtin', 'front/control/param-metadata/ardupilot.json'])
  cpSync(join(checkout, data), join(dist, data), { recursive: true });
const page = ['--outDir', join(dist, 'residual/web/dist'), '--emptyOutDir', '--logLevel', 'warn'];
node(
  'node_modules/.bin/vite',
  'build',
  '--config',
  'residual/web/vite.config.ts',
  '--configLoader',
  'native',
  ...page,
);
node('deploy/build/oclif-manifest.js', dist);
await bundleProcesses(dist);
