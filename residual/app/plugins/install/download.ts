import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { messageOf } from '../../../../shared/errors.ts';
import { ARCHIVE_LIMITS } from '../../../../shared/plugins/archive-directory.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';
import type { OnProgress } from '../../../../shared/routes/handler.ts';
import { tooLargeArchive } from './upload.ts';

const TOTAL_MS = 300_000;
const MAX_REDIRECTS = 5;

export interface DownloadRequest {
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
  const signal = AbortSignal.timeout(TOTAL_MS);
  const answer = await follow(url, hosts, signal);
  const announced = Number(answer.headers.get('content-length') ?? Number.NaN);
  const total = Number.isSafeInteger(announced) ? announced : null;
  if (total !== null && total > ARCHIVE_LIMITS.archiveBytes) throw tooLargeArchive();
  const hash = createHash('sha256');
  let done = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length;
      hash.update(chunk);
      progress({ done, total, text: 'downloading' });
      next(done > ARCHIVE_LIMITS.archiveBytes ? tooLargeArchive() : null, chunk);
    },
  });
  try {
    if (answer.body === null) throw new Error('it has no body');
    const body = Readable.fromWeb(answer.body as ReadableStream);
    await pipeline(body, counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    throw error instanceof PluginRefusal ? error : failed(url, error);
  }
  if (hash.digest('hex') !== sha256.toLowerCase())
    throw new PluginRefusal(
      'sha256_mismatch',
      'What came is not what expected_sha256 says. Nothing was installed.',
    );
}

async function follow(first: string, hosts: readonly string[], signal: AbortSignal): Promise<Response> {
  let url = allowed(first, hosts);
  for (let hops = 0; ; hops++) {
    let answer: Response;
    try {
      answer = await fetch(url, { redirect: 'manual', signal, headers: { accept: '*/*' } });
    } catch (error) {
      throw failed(url.href, error);
    }
    if (answer.status === 200) return answer;
    await answer.body?.cancel();
    const location = answer.headers.get('location');
    if (location === null || answer.status < 300 || answer.status >= 400)
      throw failed(url.href, new Error(`it answered ${answer.status}`));
    if (hops >= MAX_REDIRECTS) throw failed(first, new Error('too many redirects'));
    url = allowed(URL.parse(location, url.href)?.href ?? '', hosts);
  }
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

function failed(url: string, error: unknown): PluginRefusal {
  const { cause } = error as { readonly cause?: unknown };
  const why = cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`;
  return new PluginRefusal('download_failed', `${url}: ${why}.`);
}
