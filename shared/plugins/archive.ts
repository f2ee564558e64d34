import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { openPromise, type ZipFile } from 'yauzl';
import { deferred } from '../async/deferred.ts';
import { messageOf } from '../errors.ts';
import { faultOf } from '../schemas/fault.ts';
import { asRefusal, contentOf, readText } from './archive-content.ts';
import {
  ARCHIVE_LIMITS,
  type CheckedEntry,
  MANIFEST_ENTRY,
  readDirectory,
  SIGNATURE_ENTRY,
} from './archive-directory.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { MAX_MANIFEST_BYTES } from './manifest-text.ts';
import { PluginRefusal } from './refusal.ts';
import { digestOf, type FileDigest } from './signature.ts';
import { writeTree } from './unpack.ts';

const MAX_SIGNATURE_BYTES = 4096;

interface ArchiveEntry {
  readonly path: string;
  /** Bytes, unpacked. */
  readonly size: number;
  readonly executable: boolean;
}

/** An archive whose directory and manifest were checked. It holds an open file until it is closed. */
export interface Archive {
  /** Bytes of the archive itself. */
  readonly size: number;
  /** Bytes of all files, unpacked. */
  readonly unpackedSize: number;
  readonly manifest: Manifest;
  readonly manifestText: string;
  /** SHA-256 of the manifest, in hex. */
  readonly manifestHash: string;
  readonly warnings: readonly string[];
  /** Every file but the signature, by path. */
  readonly entries: readonly ArchiveEntry[];
  readonly signatureText: string | null;
  /** Reads every file once. @throws PluginRefusal for a file that is damaged; the reason of `signal` */
  digest(signal?: AbortSignal): Promise<{ readonly digest: Buffer; readonly files: readonly FileDigest[] }>;
  /**
   * Writes every file but the signature below `folder`, which is made if it is not there, and has it on the disk when it
   * returns. Nothing is overwritten, and what was written stays when it fails.
   * @param onBytes how many bytes are written by now
   */
  unpack(folder: string, onBytes?: (done: number) => void, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an archive, and checks all that can be known without unpacking it.
 * @throws PluginRefusal archive_invalid, archive_too_large, manifest_invalid (with `violations`), host_io_error
 */
export async function openArchive(file: string): Promise<Archive> {
  const zip = await openZip(file);
  try {
    const checked = (await readDirectory(zip).catch(asRefusal)).sort(byPath);
    const { text: manifestText, manifest, warnings } = await readManifest(zip, checked);
    requireFiles(manifest, checked);
    const signature = checked.find(({ path }) => path === SIGNATURE_ENTRY);
    const signatureText =
      signature === undefined ? null : await readText(zip, signature, MAX_SIGNATURE_BYTES, 'archive_invalid');
    const files = checked.filter((entry) => entry !== signature);
    const executables = executablesOf(manifest);
    const entries = files.map(({ path, entry }) => ({
      path,
      size: entry.uncompressedSize,
      executable: executables.has(path),
    }));
    return {
      size: zip.fileSize,
      unpackedSize: entries.reduce((sum, { size }) => sum + size, 0),
      manifest,
      manifestText,
      manifestHash: createHash('sha256').update(manifestText).digest('hex'),
      warnings,
      entries,
      signatureText,
      digest: (signal) => digestFiles(zip, files, signal),
      unpack: (folder, onBytes, signal) =>
        writeTree(
          folder,
          files.map((checkedFile) => ({
            path: checkedFile.path,
            mode: executables.has(checkedFile.path) ? 0o755 : 0o644,
            content: () => contentOf(zip, checkedFile, signal),
          })),
          onBytes,
        ),
      close: async () => closeZip(zip),
    };
  } catch (error) {
    await closeZip(zip);
    throw error;
  }
}

async function openZip(file: string): Promise<ZipFile> {
  const stat = await lstat(file).catch((error: unknown) => {
    throw new PluginRefusal(
      'host_io_error',
      `The archive cannot be read: ${messageOf(error)}.`,
      {},
      { cause: error },
    );
  });
  if (!stat.isFile())
    throw new PluginRefusal('archive_invalid', 'The archive is refused: it is not a plain file.');
  if (stat.size > ARCHIVE_LIMITS.archiveBytes)
    throw new PluginRefusal(
      'archive_too_large',
      `The archive is larger than ${ARCHIVE_LIMITS.archiveBytes / 1024 / 1024} MiB.`,
    );
  return openPromise(file, { autoClose: false, decodeStrings: false, validateEntrySizes: true }).catch(
    asRefusal,
  );
}

/** Waits until the library has closed the file. */
async function closeZip(zip: ZipFile): Promise<void> {
  if (!zip.isOpen) return;
  const { promise, resolve, reject } = deferred();
  zip.once('close', resolve);
  zip.once('error', reject);
  zip.close();
  await promise;
}

async function readManifest(
  zip: ZipFile,
  checked: readonly CheckedEntry[],
): Promise<{ text: string; manifest: Manifest; warnings: readonly string[] }> {
  const entry = checked.find(({ path }) => path === MANIFEST_ENTRY);
  if (entry === undefined)
    throw new PluginRefusal(
      'archive_invalid',
      `The archive is refused: it has no ${MANIFEST_ENTRY} at its root.`,
    );
  const text = await readText(zip, entry, MAX_MANIFEST_BYTES, 'manifest_invalid');
  const { manifest, violations, warnings } = parseManifest(text);
  if (manifest === null) {
    const [first] = violations;
    throw new PluginRefusal(
      'manifest_invalid',
      `The manifest is refused: ${first === undefined ? 'it is invalid' : faultOf(first, 'it')}${violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''}.`,
      { violations },
    );
  }
  return { text, manifest, warnings };
}

function requireFiles({ agent, gcs }: Manifest, checked: readonly CheckedEntry[]): void {
  const present = new Set(checked.map(({ path }) => path));
  const needed = [
    ...(agent === null || agent.entrypoint.includes(':') ? [] : [agent.entrypoint]),
    ...Object.values(agent?.binaries ?? {}).flatMap((paths) => Object.values(paths)),
    ...(agent?.subprocess_spawn ?? []).map((name) => `agent/vendor/${name}`),
    ...(gcs === null ? [] : [gcs.entrypoint]),
  ];
  for (const path of needed)
    if (!present.has(path))
      throw new PluginRefusal(
        'archive_invalid',
        `The archive is refused: ${path}, which its manifest names, is not in it.`,
      );
}

/** By the manifest, not by the mode in the archive: the signature covers the manifest only. */
function executablesOf({ agent }: Manifest): ReadonlySet<string> {
  if (agent === null) return new Set();
  return new Set([
    ...(agent.runtime === 'binary' ? [agent.entrypoint] : []),
    ...Object.values(agent.binaries).flatMap((paths) => Object.values(paths)),
    ...agent.subprocess_spawn.map((name) => `agent/vendor/${name}`),
  ]);
}

async function digestFiles(
  zip: ZipFile,
  files: readonly CheckedEntry[],
  signal: AbortSignal | undefined,
): Promise<{ readonly digest: Buffer; readonly files: readonly FileDigest[] }> {
  const digests: FileDigest[] = [];
  for (const file of files) {
    const hash = createHash('sha256');
    for await (const chunk of contentOf(zip, file, signal)) hash.update(chunk);
    digests.push({ path: file.path, sha256: hash.digest('hex') });
  }
  return { digest: digestOf(digests), files: digests };
}

/** Names are ASCII: this is the order of their code points. */
function byPath(a: CheckedEntry, b: CheckedEntry): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
