import type { Entry, LocalFileHeader, ZipFile } from 'yauzl';
import { foldersAbove, pathProblem } from './archive-paths.ts';
import { PluginRefusal } from './refusal.ts';

const MIB = 1024 * 1024;
export const ARCHIVE_LIMITS = {
  archiveBytes: 50 * MIB,
  entries: 2000,
  entryBytes: 25 * MIB,
  totalBytes: 100 * MIB,
  /** For entries over 1 MiB; text compresses to a hundredth at best. */
  ratio: 200,
  ratioFrom: MIB,
} as const;

export const SIGNATURE_ENTRY = 'SIGNATURE';
export const MANIFEST_ENTRY = 'manifest.yaml';
/** The node writes it beside the unpacked files. */
const ATTESTATION = '.attestation.json';

const FLAG_ENCRYPTED = 0x2041; // encrypted, strongly encrypted, header masked
const FLAG_SIZES_FOLLOW = 0x08;
const METHODS: ReadonlySet<number> = new Set([0, 8]); // stored, deflated
const TYPE_MASK = 0o170000;
const TYPE_FOLDER = 0o040000;
const TYPES: ReadonlyMap<number, string> = new Map([
  [0o120000, 'a symbolic link'],
  [0o020000, 'a character device'],
  [0o060000, 'a block device'],
  [0o010000, 'a named pipe'],
  [0o140000, 'a socket'],
]);
const DOS_FOLDER = 0x10;
/** Extra fields: sizes of 64 bits, which nothing here needs, and a second name of the entry. */
const EXTRA = { zip64: 0x0001, unicodePath: 0x7075 } as const;
const MAX_EXTRA_BYTES = 1024;
const LOCAL_HEADER_BYTES = 30;

export interface CheckedEntry {
  readonly path: string;
  readonly entry: Entry;
}

function invalid(detail: string): PluginRefusal {
  return new PluginRefusal('archive_invalid', `The archive is refused: ${detail}.`);
}

/**
 * Reads the whole central directory and every local header, and refuses the archive for the first thing that is not plain.
 * Nothing was unpacked then.
 * @returns the files without folders, in the order of the archive
 */
export async function readDirectory(zip: ZipFile): Promise<CheckedEntry[]> {
  if (zip.entryCount > ARCHIVE_LIMITS.entries)
    throw invalid(`it has ${zip.entryCount} entries, and may have ${ARCHIVE_LIMITS.entries}`);
  const files: CheckedEntry[] = [];
  const names = new Set<string>();
  const ranges: { readonly start: number; readonly end: number }[] = [];
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    // Strings are not decoded by the library, so that the bytes of the name are what is checked.
    const path = Buffer.from(entry.fileName).toString('latin1');
    const problem = pathProblem(path) ?? entryProblem(path, entry);
    if (problem !== null) throw invalid(problem);
    const key = path.toLowerCase().replace(/\/$/, '');
    if (names.has(key)) throw invalid(`two entries have the name ${path}, or names that differ only by case`);
    names.add(key);
    total += entry.uncompressedSize;
    if (total > ARCHIVE_LIMITS.totalBytes)
      throw invalid(`its files have more than ${ARCHIVE_LIMITS.totalBytes / MIB} MiB together`);
    ranges.push(await checkLocalHeader(zip, path, entry));
    if (!path.endsWith('/')) files.push({ path, entry });
  }
  const filePaths = new Set(files.map(({ path }) => path.toLowerCase()));
  for (const name of names) {
    const file = foldersAbove(name).find((folder) => filePaths.has(folder));
    if (file !== undefined) throw invalid(`${file} is a file and a folder at once`);
  }
  ranges.sort((a, b) => a.start - b.start);
  if ((ranges[0]?.start ?? 0) > 0) throw invalid('something stands before its first entry');
  for (const [index, { start }] of ranges.entries())
    if (start < (ranges[index - 1]?.end ?? 0)) throw invalid('two entries share the same bytes');
  return files;
}

function entryProblem(path: string, entry: Entry): string | null {
  const isFolder = path.endsWith('/');
  const attributes = entry.externalFileAttributes >>> 0;
  const type = (attributes >>> 16) & TYPE_MASK;
  const special = TYPES.get(type);
  if (special !== undefined) return `${path} is ${special}`;
  const saysFolder = type === TYPE_FOLDER || (type === 0 && (attributes & DOS_FOLDER) !== 0);
  if (!isFolder && saysFolder) return `${path} is a folder with the name of a file`;
  if (isFolder && type !== 0 && type !== TYPE_FOLDER) return `${path} is a file with the name of a folder`;
  if (isFolder && entry.uncompressedSize > 0) return `the folder ${path} has content`;
  if ((entry.generalPurposeBitFlag & FLAG_ENCRYPTED) !== 0) return `${path} is encrypted`;
  if (!METHODS.has(entry.compressionMethod))
    return `${path} is compressed by the method ${entry.compressionMethod}; store or deflate it`;
  if (entry.extraFieldLength > MAX_EXTRA_BYTES || entry.fileCommentLength > MAX_EXTRA_BYTES)
    return `${path} has a comment or extra fields of more than ${MAX_EXTRA_BYTES} bytes`;
  if (entry.extraFields.some(({ id }) => id === EXTRA.zip64)) return `${path} is written as ZIP64`;
  if (entry.extraFields.some(({ id }) => id === EXTRA.unicodePath)) return `${path} has a second name`;
  if (path.toLowerCase() === ATTESTATION) return `${path} is a name that the node itself uses`;
  if (path !== SIGNATURE_ENTRY && path.toUpperCase() === SIGNATURE_ENTRY)
    return `${path} is nearly the name of the signature`;
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > ARCHIVE_LIMITS.entryBytes)
    return `${path} has more than ${ARCHIVE_LIMITS.entryBytes / MIB} MiB`;
  if (uncompressedSize > ARCHIVE_LIMITS.ratioFrom && uncompressedSize > compressedSize * ARCHIVE_LIMITS.ratio)
    return `${path} is compressed to less than a ${ARCHIVE_LIMITS.ratio}th, as only a bomb is`;
  return null;
}

/** Other programs trust the local headers: an archive that shows one thing to them and another to us is refused. */
async function checkLocalHeader(
  zip: ZipFile,
  path: string,
  entry: Entry,
): Promise<{ start: number; end: number }> {
  const local: LocalFileHeader = await zip.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw new PluginRefusal(
      'archive_invalid',
      `The archive is refused: ${path} cannot be found in it.`,
      {},
      { cause: error },
    );
  });
  const sizesFollow = (entry.generalPurposeBitFlag & FLAG_SIZES_FOLLOW) !== 0;
  const same = (a: number, b: number): boolean => a === b || (sizesFollow && a === 0);
  if (
    !local.fileName.equals(entry.fileNameRaw) ||
    local.compressionMethod !== entry.compressionMethod ||
    local.generalPurposeBitFlag !== entry.generalPurposeBitFlag ||
    !same(local.crc32, entry.crc32) ||
    !same(local.compressedSize, entry.compressedSize) ||
    !same(local.uncompressedSize, entry.uncompressedSize)
  )
    throw invalid(`the two headers of ${path} do not agree`);
  const start = entry.relativeOffsetOfLocalHeader;
  return {
    start,
    end: start + LOCAL_HEADER_BYTES + local.fileNameLength + local.extraFieldLength + entry.compressedSize,
  };
}
