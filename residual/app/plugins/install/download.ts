import { messageOf } from '../../../../shared/errors.ts';
import { ARCHIVE_LIMITS } from '../../../../shared/plugins/archive-directory.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';
import type { OnProgress } from '../../../../shared/routes/handler.ts';
import { download } from '../../download.ts';
import { tooLargeArchive } from './upload.ts';

const TOTAL_MS = 300_000;

interface DownloadRequest {
  readonly url: string;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Host names, with the port where it is not 443. */
  readonly hosts: readonly string[];
  /** Where it is stored; must not exist. */
  readonly path: string;
  readonly progress: OnProgress;
}

/**
 * Fetches an archive by https from one of the allowed hosts, each redirect too, and compares its SHA-256.
 * @throws PluginRefusal url_invalid, download_failed, archive_too_large, sha256_mismatch (without the real one)
 */
export async function downloadArchive({
  url,
  sha256,
  hosts,
  path,
  progress,
}: DownloadRequest): Promise<void> {
  const found = await download({
    url,
    allowed: (address) => allowed(address, hosts),
    signal: AbortSignal.timeout(TOTAL_MS),
    path,
    maxBytes: ARCHIVE_LIMITS.archiveBytes,
    tooLarge: tooLargeArchive,
    progress,
  }).catch((error: unknown) => {
    throw error instanceof PluginRefusal ? error : new PluginRefusal('download_failed', messageOf(error));
  });
  if (found !== sha256.toLowerCase())
    throw new PluginRefusal(
      'sha256_mismatch',
      'The download does not match expected_sha256. Nothing was installed.',
    );
}

function allowed(text: string, hosts: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new PluginRefusal(
      'url_invalid',
      'The address of an archive is https://host/path, without a password.',
    );
  if (!hosts.includes(url.host))
    throw new PluginRefusal(
      'url_invalid',
      `Archives do not come from ${url.host}. Allow it in plugins.url_hosts, or install the file itself.`,
    );
  return url;
}
