import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { messageOf } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import type { OnProgress } from '../../shared/routes/handler.ts';

const MAX_REDIRECTS = 5;

/** Nothing usable came from an address; the message is a sentence. */
export class DownloadFailed extends Error {}

export interface Ask {
  readonly url: string;
  /** The address, if it may be asked; called for the first one and for each redirect. What it throws ends the download. */
  readonly allowed: (address: string) => URL;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Follows redirects itself, so that each address is judged. @throws DownloadFailed for any status but 200 and 304 */
export async function ask({ url: first, allowed, signal, headers = {} }: Ask): Promise<Response> {
  let url = allowed(first);
  for (let hops = 0; ; hops++) {
    let answer: Response;
    try {
      answer = await fetch(url, { redirect: 'manual', signal, headers: { accept: '*/*', ...headers } });
    } catch (error) {
      throw failed(url.href, error);
    }
    if (answer.status === 200 || answer.status === 304) return answer;
    await answer.body?.cancel();
    const location = answer.headers.get('location');
    if (location === null || answer.status < 300 || answer.status >= 400)
      throw failed(url.href, new Error(`it answered ${answer.status}`));
    if (hops >= MAX_REDIRECTS) throw failed(first, new Error('too many redirects'));
    url = allowed(URL.parse(location, url.href)?.href ?? '');
  }
}

export interface Download extends Ask {
  /** Where it is stored; must not exist. */
  readonly path: string;
  readonly maxBytes: number;
  /** The error for what is longer. */
  readonly tooLarge: () => Error;
  readonly progress: OnProgress;
}

/** Stores what an address has, synced. @returns its SHA-256, hexadecimal @throws DownloadFailed, and what `tooLarge` makes */
export async function download({ path, maxBytes, tooLarge, progress, ...from }: Download): Promise<string> {
  const answer = await ask(from);
  const announced = Number(answer.headers.get('content-length') ?? Number.NaN);
  const total = Number.isSafeInteger(announced) ? announced : null;
  if (total !== null && total > maxBytes) {
    await answer.body?.cancel();
    throw tooLarge();
  }
  const hash = createHash('sha256');
  let done = 0;
  let over: Error | null = null;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length;
      hash.update(chunk);
      progress({ done, total, text: 'downloading' });
      if (done > maxBytes) over = tooLarge();
      next(over, chunk);
    },
  });
  try {
    if (answer.body === null) throw new Error('it has no body');
    const body = Readable.fromWeb(answer.body as ReadableStream);
    await pipeline(body, counted, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
  } catch (error) {
    if (error === over || memberOf(error, 'syscall') === 'write') throw error;
    throw failed(from.url, error);
  }
  return hash.digest('hex');
}

function failed(url: string, error: unknown): DownloadFailed {
  const cause = memberOf(error, 'cause');
  const why = cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`;
  return new DownloadFailed(`${url}: ${why}.`);
}
