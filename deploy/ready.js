/**
 * Run first by `npm start`, `npm test` and their like. npm runs no install script here (.npmrc), so what `npm ci` leaves to do is
 * done now, once: what belongs to other machines goes, and the page is built; with --built the node too, which tests start in a
 * third of the time that its sources take. Packages that are missing, or of another version than this checkout needs, are named with
 * the command that mends it. Plain JavaScript, for whatever Node runs npm.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const NAMED = 3;
/** What the page is built from. */
const PAGE_SOURCES = ['package.json', 'residual/web', 'shared'];
const NODE_SOURCES = [
  'bin',
  'connector',
  'deploy/build',
  'front',
  'package.json',
  'residual',
  'shared',
  'tsconfig.build.json',
];
/** What `dist` was built from; not in it, since packages are made of that. */
const NODE_STAMP = 'node_modules/.cache/svc-dist-sources';

runHere('deploy/finish-packages.js');
const wrong = wrongPackages();
if (wrong.length > 0) {
  const more = wrong.length > NAMED ? ` and ${wrong.length - NAMED} more` : '';
  const are = wrong.length === 1 ? 'is' : 'are';
  console.error(
    `svc: ${wrong.slice(0, NAMED).join(', ')}${more} ${are} missing, or of another version than this checkout needs. Run: npm ci`,
  );
  process.exit(1);
}
buildPage();
if (process.argv.includes('--built')) buildNode();

/** Runs a script of the checkout to its end; if it fails, so does this one. */
function runHere(script) {
  const { status } = spawnSync(process.execPath, [join(checkout, script)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** @returns the text of a file of the checkout, null if it is not there */
function textOf(path) {
  try {
    return readFileSync(join(checkout, path), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** @returns name and version of what package-lock.json has and npm has not installed; those for developers only if any are there */
function wrongPackages() {
  const lock = textOf('package-lock.json');
  const installed = textOf('node_modules/.package-lock.json');
  if (lock === null) return [];
  if (installed === null) return ['node_modules'];
  const wanted = Object.entries(JSON.parse(lock).packages).filter(([path]) => path !== '');
  const there = JSON.parse(installed).packages;
  const developers = wanted.some(([path, { dev }]) => dev && there[path] !== undefined);
  return wanted
    .filter(
      ([, { optional, devOptional, dev, peer }]) =>
        !optional && !devOptional && !peer && (developers || !dev),
    )
    .filter(([path, { version }]) => there[path]?.version !== version || !existsSync(join(checkout, path)))
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`);
}

/** Builds the page unless it is that of these sources; without the packages for developers it says so, and the node runs without. */
function buildPage() {
  const sources = hashOf(PAGE_SOURCES);
  if (textOf('residual/web/dist/.sources') === sources) return;
  if (!existsSync(join(checkout, 'node_modules/vite'))) {
    console.error(
      'svc: the page is not built, which needs the packages for developers. Run: npm ci && npm run build:web',
    );
    return;
  }
  const build = ['node_modules/vite/bin/vite.js', 'build', '--config', 'residual/web/vite.config.ts'];
  runPinned(...build, '--configLoader', 'native', '--logLevel', 'warn');
  writeFileSync(join(checkout, 'residual/web/dist/.sources'), sources);
}

/** Builds the node into `dist` unless it is that of these sources. Types are checked by `npm run typecheck`. */
function buildNode() {
  const sources = hashOf(NODE_SOURCES);
  if (textOf(NODE_STAMP) === sources && existsSync(join(checkout, 'dist/bin/supervisor/main.js'))) return;
  runPinned('deploy/build/main.ts', '--checked', '--page', 'residual/web/dist');
  mkdirSync(join(checkout, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(checkout, NODE_STAMP), sources);
}

/** Runs a script to its end with the Node that npm brought, which runs TypeScript; if it fails, so does this one. */
function runPinned(...args) {
  const node = join(checkout, 'node_modules/.bin/node');
  const { status } = spawnSync(node, args, { cwd: checkout, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** @returns a hash over names and contents of files and folders, without what is built there */
function hashOf(paths) {
  const hash = createHash('sha256');
  const add = (path) => {
    const names = namesIn(path);
    if (names === null) hash.update(`${path}\0`).update(readFileSync(join(checkout, path)));
    else for (const name of names) if (name !== 'dist') add(join(path, name));
  };
  for (const path of paths) add(path);
  return hash.digest('hex');
}

/** @returns the sorted names in a folder, null for a file */
function namesIn(path) {
  try {
    return readdirSync(join(checkout, path)).sort();
  } catch (error) {
    if (error.code === 'ENOTDIR') return null;
    throw error;
  }
}
