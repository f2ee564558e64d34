import { createHash } from 'node:crypto';
import { mkdir, open, symlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { chunksOf } from '../async/chunks.ts';
import { messageOf } from '../errors.ts';
import { checked } from '../schemas/checked.ts';
import { validatorOf } from '../schemas/validator.ts';
import { MANIFEST_SCHEMA, type Manifest } from './manifest.ts';
import { type PublicKey, verifyText } from './minisign.ts';
import { UpdateRefusal } from './refusal.ts';

const MIB = 1024 * 1024;

/** A bundle is at most this large, packed; as large as the row takes. */
export const MAX_BUNDLE_BYTES = 200 * MIB;
export const MANIFEST_ENTRY = 'manifest.json';
export const SIGNATURE_ENTRY = 'manifest.json.minisig';
export const TREE = 'tree/';
const MAX_ENTRIES = 60_000;
const MAX_UNPACKED_BYTES = 1024 * MIB;
const MAX_MANIFEST_BYTES = 16 * MIB;
const MAX_SIGNATURE_BYTES = 4096;
const MAX_PATH = 240;

const validate = validatorOf(MANIFEST_SCHEMA);

type TreeFile = Manifest['files'][string];

/** A bundle whose manifest is signed by a trusted key, and whose archive has just what the manifest says. */
export interface Bundle {
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  /** Of all files together, unpacked. */
  readonly unpackedBytes: number;
  /**
   * Writes the tree into `folder`, which must not be there yet. Each file is checked by its hash; nothing is synced.
   * @param onBytes how many bytes are written by now
   * @throws UpdateRefusal; the file system's own error
   */
  unpack(folder: string, onBytes: (done: number) => Promise<void>): Promise<void>;
  close(): void;
}

/**
 * Opens a bundle. Of the archive only the directory is read before the signature is verified.
 * @throws UpdateRefusal with what is wrong; the file system's own error
 */
export async function openBundle(file: string, keys: readonly PublicKey[]): Promise<Bundle> {
  const zip = await openPromise(file, {
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  }).catch(notReadable);
  try {
    const entries = await directoryOf(zip);
    const manifestBytes = await smallFile(zip, entries, MANIFEST_ENTRY, MAX_MANIFEST_BYTES);
    const signature = await smallFile(zip, entries, SIGNATURE_ENTRY, MAX_SIGNATURE_BYTES);
    checkSignature(manifestBytes, signature.toString('latin1'), keys);
    const manifest = parseManifest(manifestBytes);
    const files = Object.entries(manifest.files);
    checkPaths(files);
    const unpackedBytes = checkEntries(files, entries);
    return {
      manifest,
      manifestBytes,
      unpackedBytes,
      unpack: async (folder, onBytes) => writeFiles(zip, entries, files, folder, onBytes),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

function refused(why: string, options?: ErrorOptions): UpdateRefusal {
  return new UpdateRefusal(`The bundle is refused: ${why}.`, options);
}

/** The library's own errors are about the archive, but for those of the file system. */
function notReadable(error: unknown): never {
  if (error instanceof UpdateRefusal || (error instanceof Error && 'syscall' in error)) throw error;
  throw refused(`it is damaged or no bundle (${messageOf(error)})`, { cause: error });
}

async function directoryOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES)
    throw refused(`it has ${zip.entryCount} files, and may have ${MAX_ENTRIES}`);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      const name = Buffer.from(entry.fileName).toString('latin1');
      if (entries.has(name)) throw refused(`two of its files are ${shown(name)}`);
      entries.set(name, entry);
    }
  } catch (error) {
    notReadable(error);
  }
  return entries;
}

async function smallFile(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  name: string,
  maxBytes: number,
): Promise<Buffer> {
  const entry = entries.get(name);
  if (entry === undefined) throw refused(`it has no ${name}`);
  if (entry.uncompressedSize > maxBytes) throw refused(`${name} has more than ${maxBytes} bytes`);
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(zip, entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of chunksOf(stream)) yield chunk;
  } catch (error) {
    notReadable(error);
  }
}

function checkSignature(manifest: Buffer, signature: string, keys: readonly PublicKey[]): void {
  try {
    verifyText(manifest, signature, keys);
  } catch (error) {
    throw new UpdateRefusal(`The signature of the bundle is refused. ${messageOf(error)}`, { cause: error });
  }
}

/** Only after its signature was verified. */
function parseManifest(bytes: Buffer): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw refused(`its manifest is no JSON (${messageOf(error)})`, { cause: error });
  }
  return checked(validate, value, (fault) => refused(`in its manifest, ${fault}`));
}

/** No path leaves the tree, also not through a link; no file is below another. */
function checkPaths(files: readonly (readonly [string, TreeFile])[]): void {
  const known = new Map(files);
  for (const [path, file] of files) {
    if (path.length > MAX_PATH || !/^[\x20-\x5b\x5d-\x7e]+$/.test(path) || !isBelow(path))
      throw refused(`${shown(path)} is no path in its tree`);
    for (let above = posix.dirname(path); above !== '.'; above = posix.dirname(above))
      if (known.has(above)) throw refused(`${shown(above)} is a file and a folder at once`);
    if (!('link' in file)) continue;
    const { link } = file;
    const target = posix.normalize(posix.join(posix.dirname(path), link));
    if (link.startsWith('/') || link.includes('\0') || target.split('/')[0] === '..')
      throw refused(`the link ${shown(path)} leads out of its tree`);
  }
}

function isBelow(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** @returns bytes of all files, as the directory of the archive says; reading finds out if it is not true */
function checkEntries(
  files: readonly (readonly [string, TreeFile])[],
  entries: ReadonlyMap<string, Entry>,
): number {
  let total = 0;
  for (const [path, file] of files) {
    const entry = entries.get(TREE + path);
    if (entry === undefined) throw refused(`${shown(path)} is missing`);
    if (!('link' in file)) total += entry.uncompressedSize;
  }
  const listed = new Set([MANIFEST_ENTRY, SIGNATURE_ENTRY, ...files.map(([path]) => TREE + path)]);
  for (const name of entries.keys())
    if (!listed.has(name)) throw refused(`${shown(name)} is not in its manifest`);
  if (total > MAX_UNPACKED_BYTES)
    throw refused(`its files have more than ${MAX_UNPACKED_BYTES / MIB} MiB together`);
  return total;
}

async function writeFiles(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  files: readonly (readonly [string, TreeFile])[],
  folder: string,
  onBytes: (done: number) => Promise<void>,
): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  const made = new Set(['.']);
  let done = 0;
  const makeAbove = async (path: string): Promise<void> => {
    const above = posix.dirname(path);
    if (made.has(above)) return;
    await mkdir(join(folder, above), { recursive: true, mode: 0o755 });
    made.add(above);
  };
  for (const [path, file] of files) {
    if ('link' in file) continue;
    await makeAbove(path);
    const entry = entries.get(TREE + path);
    if (entry === undefined) throw refused(`${shown(path)} is missing`);
    const hash = createHash('sha256');
    const handle = await open(join(folder, path), 'wx', file.mode);
    try {
      for await (const chunk of contentOf(zip, entry)) {
        hash.update(chunk);
        await handle.writeFile(chunk);
        done += chunk.length;
        await onBytes(done);
      }
      await handle.chmod(file.mode);
    } finally {
      await handle.close();
    }
    if (hash.digest('hex') !== file.sha256) throw refused(`${shown(path)} is not the file that was signed`);
  }
  // Last, so that no file is written through one.
  for (const [path, file] of files) {
    if (!('link' in file)) continue;
    await makeAbove(path);
    await symlink(file.link, join(folder, path));
  }
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, MAX_PATH));
}
