import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import type { Arch } from '../../shared/update/manifest.ts';
import { ROOT } from './node.ts';

const run = promisify(execFile);

/** This machine's kind, as Debian calls it. */
const ARCH: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
/** Where `.ci/run` has put what `npm run package` makes, of 1700000000 (seconds of Unix). */
export const PACKAGES = process.env['SVC_TEST_PACKAGES'];
const PLACE = 'opt/svc/package';

/** The package of this checkout, in `folder`; a copy of it where `.ci/run` has made it. @returns its path */
export async function builtDeb(folder: string): Promise<string> {
  const deb = join(folder, `svc_${packageJson.version}_${ARCH}.deb`);
  if (PACKAGES !== undefined) {
    await copyFile(join(PACKAGES, basename(deb)), deb);
    return deb;
  }
  const cache = join(ROOT, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const dist = await mkdtemp(join(cache, 'dist-')); // another test may be using `dist`
  await buildTo(dist);
  const options = ['--only', 'svc', '--arch', ARCH, '--fast', '--dist', dist, '--out', folder];
  await run(process.execPath, [join(ROOT, 'deploy/package/main.ts'), ...options], { cwd: ROOT });
  await rm(dist, { recursive: true });
  return deb;
}

/** What `npm run build` makes, in that folder; a copy of it where `.ci/run` says that it is fresh. */
export async function buildTo(dist: string): Promise<void> {
  if (process.env['SVC_TEST_BUILT'] === '1') await cp(join(ROOT, 'dist'), dist, { recursive: true });
  else await run(process.execPath, [join(ROOT, 'deploy/build/main.ts'), '--checked', dist], { cwd: ROOT });
}

async function pack(tree: string, deb: string): Promise<string> {
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, deb]);
  await rm(tree, { recursive: true });
  return deb;
}

/**
 * The same package with another version number, and perhaps another change.
 * @returns its path, beside `deb`
 */
export async function anotherVersion(
  deb: string,
  version: string,
  change?: (tree: string) => Promise<void>,
): Promise<string> {
  const folder = `${deb}.${version}`;
  await run('dpkg-deb', ['--raw-extract', deb, folder]);
  const tree = join(folder, PLACE);
  const own = packageJson.version;
  for (const file of ['package.json', 'dist/package.json', 'dist/oclif.manifest.json'])
    await replaceIn(join(tree, file), `"${own}"`, `"${version}"`);
  await replaceIn(join(folder, 'DEBIAN/control'), `\nVersion: ${own}\n`, `\nVersion: ${version}\n`);
  for (const script of ['preinst', 'postinst']) {
    const file = join(folder, 'DEBIAN', script);
    await replaceIn(file, `\nversion=${own}\n`, `\nversion=${version}\n`);
    await chmod(file, 0o755);
  }
  await rm(join(folder, 'DEBIAN/md5sums'));
  await change?.(tree);
  return pack(folder, join(deb, '..', `svc_${version}.deb`));
}

async function replaceIn(file: string, old: string, now: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (!text.includes(old)) throw new Error(`${file} has no ${old.trim()}`);
  await writeFile(file, text.replace(old, now));
}
