import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../shared/errors.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import { normaliseModes } from './stage.ts';

/** xz on a busy machine. */
const BUILD_MS = 2 * 3_600_000;
const COPY_MS = 5 * 60_000;
const KIB = 1024;

/** What a script of a package would fetch with: an installation has no internet. */
const FETCH =
  /(?<![\w./-])(?:apt|apt-get|aptitude|curl|ftp|git|nc|npm|npx|pip|pip3|rsync|scp|snap|ssh|wget)(?![\w.-])/;
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm'] as const;

interface DebInput {
  /** The files as they lie on the machine. A folder DEBIAN is made in it. */
  readonly root: string;
  /** The fields of the control file, without Installed-Size; the description may have lines. */
  readonly control: Readonly<Record<string, string>>;
  /** The folder of the maintainer scripts; those that are missing are left out. */
  readonly scripts: string;
  /** For `@WORD@` in the scripts. */
  readonly words: Readonly<Record<string, string>>;
  /** The time of every file, seconds. */
  readonly epoch: number;
  /** Light compression, for tests. */
  readonly fast: boolean;
}

/**
 * Builds a Debian package: the same files give the same bytes.
 * @throws Error for a script that fetches, or one with a word that nobody has put in
 */
export async function buildDeb(input: DebInput, out: string): Promise<void> {
  const { root, control, words, epoch, fast } = input;
  const debian = join(root, 'DEBIAN');
  const files = await filesBelow(root);
  await mkdir(debian);
  await writeFile(join(debian, 'md5sums'), await md5sums(root, files));
  const size = await installedKib(root);
  await writeFile(join(debian, 'control'), controlText({ ...control, 'Installed-Size': String(size) }));
  for (const name of SCRIPTS) {
    const text = await readScript(join(input.scripts, name), words);
    if (text !== null) await writeFile(join(debian, name), text, { mode: 0o755 });
  }
  await normaliseModes(debian);
  await chmod(root, 0o755);
  await setTimes(root, epoch);
  const compression = fast ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6'];
  await runProgram(
    'dpkg-deb',
    ['--root-owner-group', ...compression, '--build', root, `${out}.new`],
    BUILD_MS,
    {
      env: { PATH: process.env['PATH'], SOURCE_DATE_EPOCH: String(epoch), LC_ALL: 'C', TZ: 'UTC' },
    },
  );
  await rename(`${out}.new`, out);
  await rm(debian, { recursive: true });
}

/** Fields in the order of Debian's policy, those that it does not name at the end. */
function controlText(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value.trim().replaceAll('\n', '\n ')}\n`)
    .join('');
}

/** @returns null if there is no such script @throws Error if it fetches, or has a `@WORD@` that is unknown */
export async function readScript(
  path: string,
  words: Readonly<Record<string, string>>,
): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const filled = text.replaceAll(/@([A-Z][A-Z_]+)@/g, (whole, word: string) => words[word] ?? whole);
  const left = /@[A-Z][A-Z_]+@/.exec(filled);
  if (left !== null) throw new Error(`${path}: nobody puts in ${left[0]}`);
  const command = fetches(filled);
  if (command !== null) throw new Error(`${path} fetches: ${command}`);
  return filled;
}

/** @returns the line of a shell script that asks the network for something, null if none does; comments and texts in quotes aside */
export function fetches(script: string): string | null {
  return (
    script
      .split('\n')
      .find((line) => FETCH.test(line.replace(/(?:^|\s)#.*/, '').replaceAll(/'[^']*'|"[^"]*"/g, '""'))) ??
    null
  );
}

/** Sets the time of everything below a folder: archives hold it. */
export async function setTimes(folder: string, epoch: number): Promise<void> {
  const touch = ['-exec', 'touch', '--no-dereference', `--date=@${epoch}`, '{}', '+'];
  await runProgram('find', [folder, ...touch], COPY_MS);
}

/** The plain files below a folder, relative, sorted by their bytes. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** What dpkg --verify compares with. */
async function md5sums(root: string, files: readonly string[]): Promise<string> {
  const lines: string[] = [];
  for (const file of files) {
    const hash = createHash('md5');
    await pipeline(createReadStream(join(root, file)), hash);
    lines.push(`${hash.digest('hex')}  ${file}\n`);
  }
  return lines.join('');
}

/** As dpkg-gencontrol counts: files in whole KiB, 1 KiB for anything else; independent of the file system. */
async function installedKib(root: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!path.startsWith(join(root, 'DEBIAN')))
      sum += entry.isFile() ? Math.ceil((await stat(path)).size / KIB) : 1;
  }
  return sum;
}
