import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { chunksOf } from '../async/chunks.ts';
import { guardedLookup, isLoopbackName, refuseForbidden } from '../auth/asked-address.ts';
import { VERSION } from '../version.ts';

/** One GET to a tile server: bounded in time and size, and not led to another host. */

const TIMEOUT_MS = 10_000;
/** Terrain of 512 pixels has about 500 kB. */
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;
const MAX_SOCKETS = 4;
/** As the policy of tile.openstreetmap.org wants it: what this is, without a browser's name. */
const USER_AGENT = `svc/${VERSION} (ground software of a drone; keeps tiles)`;

export interface TileAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Empty unless the status is 200. */
  readonly body: Buffer;
}

/** Of one source; keeps its connections. */
export class TileClient {
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: TIMEOUT_MS }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: TIMEOUT_MS }),
  };

  /**
   * @param etag of the tile that is known; then 304 is an answer
   * @throws Error with a few words, never with the address; DOMException TimeoutError after 10 s; the reason of `signal`
   */
  async get(url: URL, etag: string | null, signal: AbortSignal): Promise<TileAnswer> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    let at = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await this.#once(at, etag, bound).catch((error: unknown) => {
        throw bound.aborted ? bound.reason : error; // not Node's word for it
      });
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || answer.status === 304 || location === undefined)
        return answer;
      const next = URL.parse(location, at.href);
      const isUpgrade = at.protocol === 'http:' && next?.protocol === 'https:' && next.port === '';
      if (next === null || next.hostname !== url.hostname || !(next.origin === at.origin || isUpgrade))
        throw new Error('it redirects to another host');
      at = next;
    }
    throw new Error('it redirects again and again');
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #once(url: URL, etag: string | null, signal: AbortSignal): Promise<TileAnswer> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isLocal = isLoopbackName(host);
    if (isIP(host) !== 0) refuseForbidden(host, isLocal);
    const isTls = url.protocol === 'https:';
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        agent: isTls ? this.#agents['https:'] : this.#agents['http:'],
        lookup: guardedLookup((address) => refuseForbidden(address, isLocal)),
        signal,
        headers: {
          'user-agent': USER_AGENT,
          accept: 'image/webp,image/png,image/jpeg,*/*;q=0.5',
          'accept-encoding': 'identity',
          ...(etag === null ? {} : { 'if-none-match': etag }),
        },
      };
      (isTls ? httpsRequest : httpRequest)(url, options).on('response', resolve).on('error', reject).end();
    });
    const { statusCode: status = 0, headers } = answer;
    if (status !== 200) {
      answer.destroy(); // a page of an error is read by nobody
      return { status, headers, body: Buffer.alloc(0) };
    }
    return { status, headers, body: await bodyOf(answer) };
  }
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const announced = Number(answer.headers['content-length'] ?? 0);
  const parts: Buffer[] = [];
  let size = 0;
  if (announced <= MAX_BYTES)
    for await (const chunk of chunksOf(answer)) {
      parts.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  if (announced <= MAX_BYTES && size <= MAX_BYTES) return Buffer.concat(parts);
  answer.destroy();
  throw new Error(`it sent more than ${MAX_BYTES / 1024 / 1024} MiB for a tile`);
}
