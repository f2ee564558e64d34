import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installModules } from '../../deploy/package/modules.ts';
import { stageTree } from '../../deploy/package/stage.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Arch } from '../../shared/update/manifest.ts';
import { ROOT } from './node.ts';

const run = promisify(execFile);

/** This machine's kind, as Debian calls it. */
const ARCH: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
const PLACE = 'opt/svc/package';

/** The package of this checkout, in `folder`: built as a release is, packed without compression. @returns its path */
export async function builtDeb(folder: string): Promise<string> {
  await run('npm', ['run', '--silent', 'build'], { cwd: ROOT });
  const modules = await installModules(ROOT, ARCH, join(ROOT, 'node_modules/.cache/svc-package', ARCH));
  const tree = join(folder, 'tree');
  await mkdir(join(tree, 'opt/svc'), { recursive: true });
  await mkdir(join(tree, 'usr/bin'), { recursive: true });
  await mkdir(join(tree, 'DEBIAN'));
  await stageTree({ checkout: ROOT, dist: join(ROOT, 'dist'), modules, arch: ARCH }, join(tree, PLACE));
  await cp(join(ROOT, 'deploy/svc-switch'), join(tree, 'opt/svc/svc-switch'));
  for (const name of ['svc', 'svc-mcp'])
    await symlink(`/opt/svc/current/bin/${name}`, join(tree, 'usr/bin', name));
  const words = { VERSION: packageJson.version, ARCH, GLIBC: '2.28', SECURITY_FLOOR: '0' };
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm']) {
    let text = await readFile(join(ROOT, 'deploy/debian', script), 'utf8');
    for (const [word, value] of Object.entries(words)) text = text.replaceAll(`@${word}@`, value);
    await writeFile(join(tree, 'DEBIAN', script), text, { mode: 0o755 });
  }
  const control = [
    'Package: svc',
    `Version: ${packageJson.version}`,
    `Architecture: ${ARCH}`,
    'Maintainer: svc',
    'Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1',
    'Recommends: network-manager, iw',
    'Description: the node',
    '',
  ];
  await writeFile(join(tree, 'DEBIAN/control'), control.join('\n'));
  return pack(tree, join(folder, 'svc.deb'));
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
  await change?.(tree);
  return pack(folder, join(deb, '..', `svc_${version}.deb`));
}

async function replaceIn(file: string, old: string, now: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (!text.includes(old)) throw new Error(`${file} has no ${old.trim()}`);
  await writeFile(file, text.replace(old, now));
}
