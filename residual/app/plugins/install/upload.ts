import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ApiError, messageOf } from '../../../../shared/errors.ts';
import { ARCHIVE_LIMITS } from '../../../../shared/plugins/archive-directory.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';
import { BadForm, receiveForm } from '../../form-upload.ts';

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
  try {
    await receiveForm(body, headers, path, {
      maxBytes: ARCHIVE_LIMITS.archiveBytes,
      fieldBytes: 4096,
      tooLarge: tooLargeArchive,
    });
  } catch (error) {
    if (error instanceof BadForm)
      throw new PluginRefusal(
        'usage_error',
        `Send the archive as the part "file" of multipart/form-data: ${error.message}.`,
      );
    if (error instanceof ApiError && error.code === 'E_TOO_LARGE') throw tooLargeArchive();
    if (error instanceof ApiError || error instanceof PluginRefusal) throw error;
    throw new PluginRefusal('host_io_error', `The archive could not be stored: ${messageOf(error)}.`);
  }
}

export function tooLargeArchive(): PluginRefusal {
  return new PluginRefusal(
    'archive_too_large',
    `An archive has at most ${ARCHIVE_LIMITS.archiveBytes / 1024 / 1024} MiB.`,
  );
}
