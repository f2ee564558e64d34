import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, symlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { chunksOf } from '../async/chunks.ts';
import { messageOf } from '../errors.ts';
import { checked } from '../schemas/checked.ts';
import { validatorOf } from '../schemas/validator.ts';
import { HEADER_SCHEMA, type Header, MANIFEST_SCHEMA, type Manifest, MIB } from './manifest.ts';
import { type PublicKey, verifyText } from './minisign.ts';
import { UpdateRefusal } from './refusal.ts';

/** A bundle is at most this large, packed; as large as the row takes. */
export const MAX_BUNDLE_BYTES = 200 * MIB;
/** The first three, in this order and not compressed: they are read where the file begins, before its directory. */
export const HEADER_ENTRY = 'header.json';
export const SIGNATURE_ENTRY = 'header.json.minisig';
export const MANIFEST_ENTRY = 'manifest.json';
export const FIRST = [HEADER_ENTRY, SIGNATURE_ENTRY, MANIFEST_ENTRY] as const;
export const TREE = 'tree/';
const MAX_HEADER_BYTES = 1024;
const MAX_SIGNATURE_BYTES = 1024;
const MAX_PATH = 240;
/** As many as the kernel follows. */
const MAX_LINKS = 40;

/** Of a local file header (APPNOTE 4.3.7): as long, and with these numbers. */
const LOCAL_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;
const SIZE_FOLLOWS = 0x8;

const validate = validatorOf(MANIFEST_SCHEMA);
const validHeader = validatorOf(HEADER_SCHEMA);

type TreeFile = Manifest['files'][string];

/** A bundle whose header is signed by a trusted key, and whose archive has just what its manifest says. */
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
  close(): Promise<void>;
}

/**
 * Opens a bundle. Two kilobytes of it are read before the signature is verified, and nothing is listed before; then no more than
 * the header says.
 * @throws UpdateRefusal with what is wrong; the file system's own error
 */
export async function openBundle(file: string, keys: readonly PublicKey[]): Promise<Bundle> {
  const handle = await open(file, 'r');
  try {
    const { header, manifestBytes } = await readHead(handle, keys);
    const manifest = parseManifest(manifestBytes);
    const files = Object.entries(manifest.files);
    if (FIRST.length + files.length !== header.entries)
      throw refused(`its manifest has ${files.length} files, which is not what its header says`);
    checkPaths(files);
    const zip = await fromFdPromise(handle.fd, {
      autoClose: false,
      decodeStrings: false,
      validateEntrySizes: true,
    }).catch(notReadable);
    const entries = await directoryOf(zip, header, files);
    return {
      manifest,
      manifestBytes,
      unpackedBytes: header.unpacked_bytes,
      unpack: async (folder, onBytes) => writeFiles(zip, entries, files, folder, onBytes),
      close: async () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What lies before the files of the tree. */
async function readHead(
  handle: FileHandle,
  keys: readonly PublicKey[],
): Promise<{ readonly header: Header; readonly manifestBytes: Buffer }> {
  const signed = await firstEntry(handle, 0, HEADER_ENTRY, MAX_HEADER_BYTES);
  const signature = await firstEntry(handle, signed.end, SIGNATURE_ENTRY, MAX_SIGNATURE_BYTES);
  checkSignature(signed.content, signature.content.toString('latin1'), keys);
  const header = checked(validHeader, parsed(signed.content, 'header'), (fault) =>
    refused(`in its header, ${fault}`),
  );
  const { bytes, sha256 } = header.manifest;
  const manifest = await firstEntry(handle, signature.end, MANIFEST_ENTRY, bytes);
  if (createHash('sha256').update(manifest.content).digest('hex') !== sha256)
    throw refused('its manifest is not the one that was signed');
  return { header, manifestBytes: manifest.content };
}

/** An entry by its local header, whose place is known without the directory. */
async function firstEntry(
  handle: FileHandle,
  at: number,
  name: string,
  maxBytes: number,
): Promise<{ readonly content: Buffer; readonly end: number }> {
  const local = await bytesAt(handle, at, LOCAL_BYTES);
  if (local === null || local.readUInt32LE(0) !== LOCAL_SIGNATURE)
    throw refused('it is damaged or no bundle');
  const nameAt = at + LOCAL_BYTES;
  const size = local.readUInt32LE(22);
  const isNamed =
    local.readUInt16LE(26) === name.length &&
    (await bytesAt(handle, nameAt, name.length))?.toString('latin1') === name;
  if (!isNamed) throw refused(`it has no ${name} where it should be`);
  if ((local.readUInt16LE(6) & SIZE_FOLLOWS) !== 0 || local.readUInt16LE(8) !== 0)
    throw refused(`its ${name} is compressed`);
  if (size > maxBytes) throw refused(`${name} has more than ${maxBytes} bytes`);
  const contentAt = nameAt + name.length + local.readUInt16LE(28);
  const content = await bytesAt(handle, contentAt, size);
  if (content === null) throw refused('it is damaged or no bundle (it is cut off)');
  return { content, end: contentAt + size };
}

/** Null where the file ends before. */
async function bytesAt(handle: FileHandle, at: number, bytes: number): Promise<Buffer | null> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, at);
  return bytesRead === bytes ? buffer : null;
}

function refused(why: string, options?: ErrorOptions): UpdateRefusal {
  return new UpdateRefusal(`The bundle is refused: ${why}.`, options);
}

/** The library's own errors are about the archive, but for those of the file system. */
function notReadable(error: unknown): never {
  if (error instanceof UpdateRefusal || (error instanceof Error && 'syscall' in error)) throw error;
  throw refused(`it is damaged or no bundle (${messageOf(error)})`, { cause: error });
}

/** Each entry of the archive is one of the manifest, and each of these is there once. */
async function directoryOf(
  zip: ZipFile,
  header: Header,
  files: readonly (readonly [string, TreeFile])[],
): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount !== header.entries)
    throw refused(`it has ${zip.entryCount} entries, and its header says ${header.entries}`);
  const wanted = new Map<string, TreeFile | null>([
    ...FIRST.map((name) => [name, null] as const),
    ...files.map(([path, file]) => [TREE + path, file] as const),
  ]);
  const entries = new Map<string, Entry>();
  let total = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      const name = Buffer.from(entry.fileName).toString('latin1');
      const file = wanted.get(name);
      if (file === undefined) throw refused(`${shown(name)} is not in its manifest`);
      if (entries.has(name)) throw refused(`two of its files are ${shown(name)}`);
      entries.set(name, entry);
      if (file !== null && !('link' in file)) total += entry.uncompressedSize;
    }
  } catch (error) {
    notReadable(error);
  }
  if (total !== header.unpacked_bytes)
    throw refused(`its files have ${total} bytes together, and its header says ${header.unpacked_bytes}`);
  return entries;
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of chunksOf(stream)) yield chunk;
  } catch (error) {
    notReadable(error);
  }
}

function checkSignature(header: Buffer, signature: string, keys: readonly PublicKey[]): void {
  try {
    verifyText(header, signature, keys);
  } catch (error) {
    throw new UpdateRefusal(`The signature of the bundle is refused. ${messageOf(error)}`, { cause: error });
  }
}

/** Only after its signature was verified. */
function parseManifest(bytes: Buffer): Manifest {
  return checked(validate, parsed(bytes, 'manifest'), (fault) => refused(`in its manifest, ${fault}`));
}

function parsed(bytes: Buffer, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw refused(`its ${what} is no JSON (${messageOf(error)})`, { cause: error });
  }
}

/** No path leaves the tree, also not through a link; no file is below another. */
function checkPaths(files: readonly (readonly [string, TreeFile])[]): void {
  const known = new Map(files);
  for (const [path, file] of files) {
    if (path.length > MAX_PATH || !/^[\x20-\x5b\x5d-\x7e]+$/.test(path) || !isBelow(path))
      throw refused(`${shown(path)} is no path in its tree`);
    for (let above = posix.dirname(path); above !== '.'; above = posix.dirname(above))
      if (known.has(above)) throw refused(`${shown(above)} is a file and a folder at once`);
    if ('link' in file && !staysBelow(path, file.link, known))
      throw refused(`the link ${shown(path)} leads out of its tree`);
  }
}

/** Goes the way of the kernel, through other links of the tree: `a/..` is not where it looks to be if `a` is one. */
function staysBelow(path: string, link: string, known: ReadonlyMap<string, TreeFile>): boolean {
  const at = path.split('/').slice(0, -1);
  const left = link.split('/').toReversed();
  if (link.startsWith('/') || link.includes('\0')) return false;
  for (let followed = 0; left.length > 0; ) {
    const part = left.pop();
    if (part === undefined || part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    at.push(part);
    const found = known.get(at.join('/'));
    if (found === undefined || !('link' in found)) continue;
    if (found.link.startsWith('/') || ++followed > MAX_LINKS) return false;
    at.pop();
    left.push(...found.link.split('/').toReversed());
  }
  return true;
}

function isBelow(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
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
