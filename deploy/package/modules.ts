import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../shared/process/run-program.ts';
import type { Arch } from '../../shared/update/manifest.ts';
import { checkPrograms } from './elf.ts';

/** As Node and npm call the machine. */
export const NODE_CPU: Readonly<Record<Arch, 'x64' | 'arm64'>> = { amd64: 'x64', arm64: 'arm64' };

/** Half an hour: a slow network, and a hundred megabytes. */
const INSTALL_MS = 30 * 60_000;
const HASH_CHARS = 16;
const INSTALL_OUTPUT_BYTES = 16 * 1024 * 1024;

/** For developers of a library, or for its own tests: nobody reads it on a node. */
const DEVELOPER_FILE = /\.(?:map|ts|mts|cts|md|markdown|tlog|flow|cc|cpp|hpp|gyp|gypi|mk)$/i;
const LICENCE_FILE = /licen[cs]e|notice|copying/i;
/** Below the package's own folder only: a folder of that name deeper may be code. */
const DEVELOPER_FOLDERS = new Set([
  'test',
  'tests',
  'examples',
  'example',
  'benchmark',
  'benchmarks',
  '.github',
]);

/**
 * The production dependencies for a machine, without what only developers or other machines need. No install script runs. They are
 * kept beside `folder` under a name that stands for the lock file: a second call does nothing, and two at once do not disturb each
 * other.
 * @returns the path of node_modules
 * @throws Error if a program in it is for another machine; ApiError E_UPSTREAM with npm's words
 */
export async function installModules(checkout: string, arch: Arch, folder: string): Promise<string> {
  const inputs = ['package.json', 'package-lock.json', 'deploy/finish-packages.js'];
  const hash = createHash('sha256').update(arch);
  for (const file of inputs) hash.update(await readFile(join(checkout, file)));
  hash.update(await readFile(import.meta.filename));
  const kept = `${folder}-${hash.digest('hex').slice(0, HASH_CHARS)}`;
  if (existsSync(kept)) return join(kept, 'node_modules');

  const fresh = await mkdtemp(`${folder}-new-`);
  try {
    await mkdir(join(fresh, 'deploy'));
    for (const file of inputs) await copyFile(join(checkout, file), join(fresh, file));
    await fillModules(fresh, arch);
    await rename(fresh, kept);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another build was first.
    if (!existsSync(kept)) throw error;
  }
  return join(kept, 'node_modules');
}

async function fillModules(folder: string, arch: Arch): Promise<void> {
  const cpu = NODE_CPU[arch];
  const args = ['ci', '--omit=dev', '--os=linux', `--cpu=${cpu}`, '--libc=glibc', '--ignore-scripts'];
  await runProgram(
    'npm',
    [...args, '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder],
    INSTALL_MS,
    { maxBytes: INSTALL_OUTPUT_BYTES },
  );
  await runProgram(process.execPath, [join(folder, 'deploy/finish-packages.js')], INSTALL_MS, {
    env: { npm_config_os: 'linux', npm_config_cpu: cpu },
  });
  await prune(join(folder, 'node_modules'), cpu);
  await checkPrograms(join(folder, 'node_modules'), arch);
}

/** Removes developer files, and what is built for other machines. */
export async function prune(modules: string, cpu: string): Promise<void> {
  for (const name of await packagesIn(modules)) await prunePackage(join(modules, name), cpu);
  // npm's own list of what it has installed: it names what is not there any more.
  await rm(join(modules, '.package-lock.json'), { force: true });
  // Commands of the dependencies: the node needs its Node, and nobody the others.
  for (const name of await namesIn(join(modules, '.bin')))
    if (name !== 'node') await rm(join(modules, '.bin', name));
}

async function prunePackage(folder: string, cpu: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') await prune(path, cpu);
    else if (entry.isDirectory() && DEVELOPER_FOLDERS.has(entry.name)) await rm(path, { recursive: true });
    else if (entry.isDirectory() && entry.name === 'prebuilds') await keepPrebuild(path, cpu);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && DEVELOPER_FILE.test(entry.name) && !LICENCE_FILE.test(entry.name))
      await rm(join(entry.parentPath, entry.name), { force: true });
}

/** node-gyp-build takes one of `linux-<cpu>` by the C library that is in its name; Debian's is glibc. */
async function keepPrebuild(folder: string, cpu: string): Promise<void> {
  for (const machine of await readdir(folder)) {
    if (machine !== `linux-${cpu}`) await rm(join(folder, machine), { recursive: true });
    else
      for (const file of await readdir(join(folder, machine)))
        if (file.includes('musl')) await rm(join(folder, machine, file));
  }
}

/** The packages in a node_modules, `name` and `@scope/name`, sorted. */
export async function packagesIn(modules: string): Promise<string[]> {
  const names = (await namesIn(modules)).filter((name) => !name.startsWith('.'));
  const scoped = await Promise.all(
    names.map(async (name) =>
      name.startsWith('@')
        ? (await readdir(join(modules, name))).map((inner) => `${name}/${inner}`)
        : (await lstat(join(modules, name))).isDirectory()
          ? [name]
          : [],
    ),
  );
  return scoped.flat().toSorted();
}

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}
