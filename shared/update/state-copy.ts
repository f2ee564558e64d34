import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { configLeaves } from '../config/keys.ts';
import { messageOf } from '../errors.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import type { Paths } from '../paths.ts';

/**
 * What a newer version may rewrite in its own form, and a return to the version before brings back. Whatever is not on this list
 * only goes forward: an old copy must not make a revoked token valid again, or a person who was unpaired paired.
 */
export const COPIED = [
  'config',
  'configLastGood',
  'network',
  'setup',
  'videoProfile',
  'peripherals',
  'activeDrone',
  'groundUi',
] as const satisfies readonly (keyof Paths)[];

const CONFIGS: ReadonlySet<string> = new Set<(typeof COPIED)[number]>(['config', 'configLastGood']);
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 256;
const NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The keys of the config that say who may do what: they keep their newest value. */
export const KEPT_KEYS: readonly string[] = configLeaves().flatMap(([key, leaf]) =>
  leaf['x-class'] === 'keyonly' || leaf['x-class'] === 'root' ? [key] : [],
);

/**
 * Does work as the user of the node. Root must not read or write by itself what that user may replace by a link.
 */
export type AsNode = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Copies the files of `COPIED` below `folder`, which must not be there yet, and has them on the disk when it returns.
 * @throws the file system's error
 */
export async function copyState(paths: Paths, folder: string, asNode: AsNode): Promise<void> {
  const copies = new Map<string, Buffer>();
  await asNode(async () => {
    for (const name of COPIED)
      for (const [file, kept] of await filesOf(paths[name], join(folder, name))) {
        const content = await readPlain(file);
        if (content !== null) copies.set(kept, content);
      }
  });
  await mkdir(folder, { mode: 0o700 });
  for (const [kept, content] of copies) {
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
    await writeAtomic(kept, content, 0o600);
  }
}

/**
 * Brings the copies back, each completely or not at all; with the newest values of `KEPT_KEYS`. A file that did not exist when
 * the copies were made stays. The node must not run.
 * @returns a sentence for each file that stays as it is
 */
export async function restoreState(paths: Paths, folder: string, asNode: AsNode): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of COPIED) {
    for (const [kept, file] of await filesOf(join(folder, name), paths[name])) {
      try {
        const old = await readPlain(kept);
        if (old === null) continue;
        await asNode(async () =>
          replace(file, CONFIGS.has(name) ? withNewest(old, await newestConfig(paths)) : old),
        );
      } catch (error) {
        problems.push(`${file} stays as it is: ${messageOf(error)}`);
      }
    }
  }
  return problems;
}

/** A file with the place of its copy, or each file of a folder; none where there is nothing. */
async function filesOf(path: string, other: string): Promise<readonly (readonly [string, string])[]> {
  const found = await lstat(path).catch(absent);
  if (found === null || found.isSymbolicLink()) return [];
  if (!found.isDirectory()) return [[path, other]];
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).toSorted();
  return names.slice(0, MAX_FILES).map((name) => [join(path, name), join(other, name)]);
}

/** Null for what is not there, or no plain file: whoever can write the folder must not choose what root reads. */
async function readPlain(file: string): Promise<Buffer | null> {
  const handle = await open(file, NO_LINK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ELOOP') return null;
    throw error;
  });
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.nlink > 1) return null;
    if (found.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function replace(file: string, content: string | Buffer): Promise<void> {
  const mode = (await lstat(file).catch(absent))?.mode ?? 0o600;
  await mkdir(dirname(file), { recursive: true, mode: 0o750 });
  await writeAtomic(file, content, mode & 0o777);
}

/** @throws Error if neither file can be read: what is in force then is not known */
async function newestConfig(paths: Paths): Promise<Document> {
  for (const file of [paths.config, paths.configLastGood]) {
    const text = await readPlain(file);
    const document = text === null ? null : parseDocument(text.toString('utf8'));
    if (document !== null && document.errors.length === 0) return document;
  }
  throw new Error('no present config can be read');
}

function withNewest(old: Buffer, newest: Document): string {
  const document = parseDocument(old.toString('utf8'));
  if (document.errors.length > 0) throw new Error('its copy is no YAML');
  for (const key of KEPT_KEYS) {
    const path = key.split('.');
    const value: unknown = newest.getIn(path);
    if (value !== undefined) document.setIn(path, value);
    else if (document.hasIn(path)) document.deleteIn(path);
  }
  return document.toString();
}
