import { crc32 } from 'node:zlib';
import type { ZipFile } from 'yauzl';
import { chunksOf } from '../async/chunks.ts';
import { messageOf } from '../errors.ts';
import type { CheckedEntry } from './archive-directory.ts';
import { PluginRefusal } from './refusal.ts';

/** The library's own errors are about what is wrong with the archive, but for those of the file system. */
export function asRefusal(error: unknown): never {
  if (error instanceof PluginRefusal) throw error;
  const isSystem = error instanceof Error && 'syscall' in error;
  throw new PluginRefusal(
    isSystem ? 'host_io_error' : 'archive_invalid',
    isSystem
      ? `The archive cannot be read: ${messageOf(error)}.`
      : `The archive is refused: ${messageOf(error)}.`,
    {},
    { cause: error },
  );
}

/** A small file, as text. */
export async function readText(
  zip: ZipFile,
  checked: CheckedEntry,
  maxBytes: number,
  kind: 'archive_invalid' | 'manifest_invalid',
): Promise<string> {
  if (checked.entry.uncompressedSize > maxBytes)
    throw new PluginRefusal(kind, `The archive is refused: ${checked.path} has more than ${maxBytes} bytes.`);
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(zip, checked)) chunks.push(chunk);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new PluginRefusal(
      kind,
      `The archive is refused: ${checked.path} is not UTF-8.`,
      {},
      { cause: error },
    );
  }
}

/** The content of one file. A size or checksum other than the directory says is found at the end at the latest. */
export async function* contentOf(
  zip: ZipFile,
  { path, entry }: CheckedEntry,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  let size = 0;
  let sum = 0;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of chunksOf(stream)) {
      signal?.throwIfAborted();
      size += chunk.length;
      if (size > entry.uncompressedSize) break;
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) throw error;
    asRefusal(error);
  }
  if (size !== entry.uncompressedSize)
    throw new PluginRefusal(
      'archive_invalid',
      `The archive is refused: ${path} does not have the size it claims.`,
    );
  if (sum !== entry.crc32)
    throw new PluginRefusal('archive_invalid', `The archive is refused: the checksum of ${path} is wrong.`);
}
