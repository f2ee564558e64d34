import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../shared/process/run-program.ts';
import type { Arch } from '../../shared/update/manifest.ts';
import { checkPrograms } from './elf.ts';

const COPY_MS = 10 * 60_000;

/** Started by the link in /usr/bin, or by its place: runs with the Node of its own version, since a machine may have none. */
const COMMAND = (program: string): string => `#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$root/node_modules/.bin/node" "$root/bin/${program}.js" "$@"
`;

/** The commands of a version: started by a file of that name, which is linked from /usr/bin. */
export const PROGRAMS = ['svc', 'svc-mcp', 'svc-conformance'] as const;

/** What a version has beside its code and its packages, as in the checkout. */
const TEXTS = ['package.json', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'docs'];

interface StageInput {
  /** The folder of the sources. */
  readonly checkout: string;
  /** The built code, `dist` of `npm run build`. */
  readonly dist: string;
  /** Of installModules. */
  readonly modules: string;
  readonly arch: Arch;
}

/**
 * Makes the tree of a version, as it lies in /opt/svc/versions/<version>, in a folder that is not there yet.
 * @throws Error if something is not built, or a program is for another machine
 */
export async function stageTree({ checkout, dist, modules, arch }: StageInput, tree: string): Promise<void> {
  if (!existsSync(join(dist, 'oclif.manifest.json')))
    throw new Error(`${dist} is not built. Run: npm run build`);
  await mkdir(join(tree, 'bin'), { recursive: true });
  await copy(dist, join(tree, 'dist'));
  await copy(modules, join(tree, 'node_modules'));
  for (const program of PROGRAMS) {
    await copy(join(checkout, `bin/${program}.js`), join(tree, `bin/${program}.js`));
    await writeFile(join(tree, 'bin', program), COMMAND(program), { mode: 0o755 });
  }
  for (const name of TEXTS)
    if (existsSync(join(checkout, name))) await copy(join(checkout, name), join(tree, name));
  // `svc plugin init` and `sdk` write from `extensions`; svc-switch copies what is in `root` to where the machine looks for it; the
  // updater puts `svc-switch` itself in place; the package gives the keys in `update-keys` to a new node.
  await mkdir(join(tree, 'deploy'));
  for (const name of ['extensions', 'root', 'security-floor', 'svc-switch', 'update-keys'])
    if (existsSync(join(checkout, 'deploy', name)))
      await copy(join(checkout, 'deploy', name), join(tree, 'deploy', name));
  await normaliseModes(tree);
  await checkPrograms(tree, arch);
}

/** By `cp`, which shares the blocks where the file system can; links stay links. */
export async function copy(from: string, to: string): Promise<void> {
  await runProgram('cp', ['-R', '--no-dereference', '--reflink=auto', '-T', from, to], COPY_MS);
}

/** Modes that do not depend on the umask of the checkout: 0755 for folders and whatever may be run, 0644 for the rest. */
export async function normaliseModes(tree: string): Promise<void> {
  await runProgram('chmod', ['-R', 'u=rwX,go=rX', tree], COPY_MS);
}
