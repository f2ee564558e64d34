import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { chunksOf } from '../async/chunks.ts';
import { zipOutput } from '../files/zip-output.ts';
import { openArchive } from './archive.ts';
import { ARCHIVE_LIMITS, MANIFEST_ENTRY, SIGNATURE_ENTRY } from './archive-directory.ts';
import { pathProblem } from './archive-paths.ts';
import { PluginRefusal } from './refusal.ts';
import { digestOf, type FileDigest, signDigest, signerOf } from './signature.ts';

/** What an author has in the folder and nobody needs on a node. */
const EXCLUDED_FOLDERS = new Set(['dist', 'node_modules', 'tests', '__pycache__', 'target']);
const EXCLUDED_PATHS = new Set(['gcs/src']);
const EXCLUDED_FILES = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  SIGNATURE_ENTRY,
]);
const EXCLUDED_NAMES = [/^\./, /^esbuild\.config\./, /\.tsbuildinfo$/, /\.egg-info$/, /\.svcplug$/];
/** The earliest time that the format knows, as the machine's own time: the same bytes in each zone. */
const MTIME = new Date(1980, 0, 1);
const MODE = 0o100644;
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/;
const HEAD_BYTES = 4096;

export interface Packed {
  /** Bytes of the archive. */
  readonly size: number;
  /** SHA-256 of all files, in hex: what is signed. */
  readonly digest: string;
  readonly files: readonly string[];
  readonly signer: string | null;
  readonly warnings: readonly string[];
}

interface PackOptions {
  readonly sign?: { readonly key: KeyObject; readonly signer: string };
  /** Leaves nothing out: the folder is an archive that was unpacked. */
  readonly everything?: boolean;
}

/**
 * Packs a folder into the archive `out`, which is there either completely or not at all. The same files always give the same
 * bytes.
 * @throws PluginRefusal for what a node would refuse, a link, or a private key among the files
 */
export async function packFolder(
  folder: string,
  { sign, everything = false }: PackOptions,
  out: string,
): Promise<Packed> {
  const paths = await filesIn(folder, everything);
  if (!paths.includes(MANIFEST_ENTRY))
    throw new PluginRefusal('manifest_invalid', `${resolve(folder)} has no ${MANIFEST_ENTRY}.`);
  if (sign !== undefined) signDigest(Buffer.alloc(32), sign.key, sign.signer); // finds a wrong key before any work
  const temporary = `${out}.${process.pid}.tmp`;
  try {
    await writeZip(folder, paths, sign, temporary);
    const packed = await checkPacked(temporary, sign);
    await rename(temporary, out);
    return packed;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The files to pack, relative, in the order of their code points. */
async function filesIn(folder: string, everything: boolean): Promise<string[]> {
  const found: string[] = [];
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!everything && isExcluded(path, entry.name, entry.isDirectory())) continue;
      const problem = pathProblem(path);
      if (problem !== null) throw refused(problem);
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) found.push(path);
      else throw refused(`${path} is neither a file nor a folder`);
      if (found.length > ARCHIVE_LIMITS.entries)
        throw refused(`there are more than ${ARCHIVE_LIMITS.entries} files`);
    }
  };
  await walk('');
  for (const path of found) await refuseLargeOrSecret(folder, path);
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function isExcluded(path: string, name: string, isFolder: boolean): boolean {
  if (EXCLUDED_NAMES.some((pattern) => pattern.test(name)) || EXCLUDED_PATHS.has(path)) return true;
  return isFolder ? EXCLUDED_FOLDERS.has(name) : EXCLUDED_FILES.has(path);
}

function refused(why: string): PluginRefusal {
  return new PluginRefusal('archive_invalid', `The folder cannot be packed: ${why}.`);
}

/** An archive goes to everybody: a key that was left in the folder would be given away. */
async function refuseLargeOrSecret(folder: string, path: string): Promise<void> {
  const { size } = await lstat(join(folder, path));
  if (size > ARCHIVE_LIMITS.entryBytes)
    throw refused(`${path} has more than ${ARCHIVE_LIMITS.entryBytes} bytes`);
  if (size > HEAD_BYTES * 4) return;
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(createReadStream(join(folder, path)))) chunks.push(chunk);
  if (PRIVATE_KEY.test(Buffer.concat(chunks).toString('latin1')))
    throw refused(`${path} is a private key; keep it elsewhere`);
}

async function writeZip(
  folder: string,
  paths: readonly string[],
  sign: { readonly key: KeyObject; readonly signer: string } | undefined,
  out: string,
): Promise<void> {
  const zip = new ZipFile();
  const options = { mtime: MTIME, mode: MODE, forceDosTimestamp: true };
  const digests: FileDigest[] = [];
  // They are read one after the other, each when its turn has come.
  for (const path of paths)
    zip.addReadStreamLazy(path, options, (callback) => callback(null, hashed(folder, path, digests)));
  if (sign !== undefined)
    zip.addReadStreamLazy(SIGNATURE_ENTRY, options, (callback) =>
      callback(null, Readable.from([Buffer.from(signDigest(digestOf(digests), sign.key, sign.signer))])),
    );
  const output = zipOutput(zip);
  zip.on('error', (error: Error) => output.destroy(error));
  zip.end();
  await pipeline(output, createWriteStream(out, { flags: 'wx', mode: 0o644 }));
}

function hashed(folder: string, path: string, digests: FileDigest[]): Readable {
  const hash = createHash('sha256');
  return Readable.from(
    (async function* () {
      for await (const chunk of chunksOf(createReadStream(join(folder, path)))) {
        hash.update(chunk);
        yield chunk;
      }
      digests.push({ path, sha256: hash.digest('hex') });
    })(),
  );
}

/** What this node would refuse is never handed over. */
async function checkPacked(
  file: string,
  sign: { readonly key: KeyObject; readonly signer: string } | undefined,
): Promise<Packed> {
  const archive = await openArchive(file);
  try {
    const { digest, files } = await archive.digest();
    if (sign !== undefined)
      await signerOf(
        { signatureText: archive.signatureText, digest: () => Promise.resolve({ digest }) },
        { keys: new Map([[sign.signer, createPublicKey(sign.key)]]), revoked: new Set() },
      );
    return {
      size: archive.size,
      digest: digest.toString('hex'),
      files: files.map(({ path }) => path),
      signer: sign?.signer ?? null,
      warnings: archive.warnings,
    };
  } finally {
    await archive.close();
  }
}
