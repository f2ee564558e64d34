import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { ApiError, messageOf } from '../../../../shared/errors.ts';
import { ARCHIVE_LIMITS } from '../../../../shared/plugins/archive-directory.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';

/** The name of the part that holds the archive. */
const PART = 'file';

/** Where archives wait until they are installed or refused. What a killed process left there is removed at the next start. */
export const INCOMING = '.incoming';

/**
 * Runs `work` with a new file name below `folder`, and removes the file afterwards.
 * @param folder of the installed extensions
 */
export async function withIncoming<T>(folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const incoming = join(folder, INCOMING);
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const path = join(incoming, `${randomBytes(8).toString('hex')}.svcplug`);
  try {
    return await work(path);
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * Stores the archive of a multipart body (RFC 7578), its part `file`, as it comes.
 * @param path where; must not exist
 * @throws PluginRefusal usage_error, archive_too_large, host_io_error
 */
export async function receiveArchive(
  body: Readable,
  headers: IncomingHttpHeaders,
  path: string,
): Promise<void> {
  const form = formOf(headers);
  const stored: Promise<void>[] = [];
  let tooLarge = false;
  form.on('file', (name, part) => {
    part.once('limit', () => {
      tooLarge = true;
    });
    if (name === PART && stored.length === 0) {
      const storing = pipeline(part, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      stored.push(storing);
      storing.catch((error: unknown) => form.destroy(error instanceof Error ? error : undefined));
    } else part.resume();
  });
  try {
    await pipeline(body, form);
    await stored[0];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_TOO_LARGE') throw tooLargeArchive();
    if (error instanceof ApiError) throw error;
    if ((error as NodeJS.ErrnoException).syscall !== undefined)
      throw new PluginRefusal('host_io_error', `The archive could not be stored: ${messageOf(error)}.`);
    throw new PluginRefusal('usage_error', `The body is not a complete multipart form: ${messageOf(error)}.`);
  }
  if (tooLarge) throw tooLargeArchive();
  if (stored.length === 0)
    throw new PluginRefusal('usage_error', `Send the archive as the part "${PART}" of a multipart form.`);
}

function formOf(headers: IncomingHttpHeaders): busboy.Busboy {
  try {
    return busboy({
      headers,
      limits: { files: 1, fields: 8, parts: 9, fieldSize: 4096, fileSize: ARCHIVE_LIMITS.archiveBytes + 1 },
    });
  } catch (error) {
    throw new PluginRefusal(
      'usage_error',
      `Send multipart/form-data with the archive as "${PART}": ${messageOf(error)}.`,
    );
  }
}

export function tooLargeArchive(): PluginRefusal {
  return new PluginRefusal(
    'archive_too_large',
    `An archive has at most ${ARCHIVE_LIMITS.archiveBytes / 1024 / 1024} MiB.`,
  );
}
