import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { chunksOf } from '../../shared/async/chunks.ts';
import { Failed } from './report.ts';

/** A node grants 60 a second (docs/contract/edge.md#budgets), and others may use it too. */
const BETWEEN_MS = 25;
const MAX_BYTES = 16 * 1024 * 1024;
const LONGEST_WAIT_S = 10;
const ANSWER_MS = 20_000;
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface Ask {
  readonly method?: string;
  /** The request target as it is sent. */
  readonly target: string;
  /** Added to `Host` and the key; as pairs, so that a name can come twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Whether the pairing key goes along; true unless said. */
  readonly keyed?: boolean;
  /** Another Host than the node's own. */
  readonly host?: string;
  readonly body?: string;
  /** Of the answer's head, and again of its whole body; 20 s unless said. */
  readonly timeoutMs?: number;
  /** Ends after the head of the answer. */
  readonly headOnly?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The node that is checked. Requests go out one after the other, slower than its limit. */
export class Target {
  readonly url: URL;
  readonly #key: string;
  readonly #agent: Agent;
  readonly #betweenMs: number;
  #next = 0;

  /** @param url its scheme, host and port @param betweenMs from one request to the next, at least */
  constructor(url: URL, key: string, betweenMs = BETWEEN_MS) {
    this.#betweenMs = betweenMs;
    this.url = url;
    this.#key = key;
    this.#agent =
      url.protocol === 'https:' ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The headers of a request with the key. */
  get credential(): Readonly<Record<string, string>> {
    return { 'x-svc-key': this.#key };
  }

  /** Waits where the node asks for it. @throws Failed where it does not answer in time, or not in HTTP */
  async ask(ask: Ask): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      await this.turn();
      const answer = await this.#once(ask);
      const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
      if (answer.status !== 429 || tries >= 3 || !(seconds <= LONGEST_WAIT_S)) return answer;
      await wait(seconds * 1000);
    }
  }

  /** Resolves when the next request may go out. */
  async turn(): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#betweenMs;
    if (at > now) await wait(at - now);
  }

  async #once(ask: Ask): Promise<Answer> {
    const { method = 'GET', target, headers = [], keyed = true, body, timeoutMs = ANSWER_MS } = ask;
    const named = new Set(headers.map(([name]) => name.toLowerCase()));
    const pairs: readonly (readonly [string, string])[] = [
      ...(named.has('host') ? [] : [['host', ask.host ?? this.url.host] as const]),
      ...(keyed ? Object.entries(this.credential) : []),
      ...(body === undefined && BODILESS.has(method)
        ? []
        : [['content-length', String(Buffer.byteLength(body ?? ''))] as const]),
      ...headers,
    ];
    const at = `${method} ${target}`;
    const send = this.url.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const req = send({
        host: this.url.hostname.replace(/^\[|\]$/g, ''),
        port: this.url.port === '' ? undefined : this.url.port,
        method,
        path: target,
        agent: this.#agent,
        setHost: false,
        headers: pairs.flat(),
      });
      const late = setTimeout(() => req.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      req.on('error', (error) => {
        clearTimeout(late);
        reject(new Failed(`${at}: ${error.message}.`));
      });
      req.on('upgrade', (res, socket) => {
        clearTimeout(late);
        socket.destroy();
        resolve({ status: 101, headers: res.headers, bytes: Buffer.alloc(0) });
      });
      req.on('response', (res) => {
        late.refresh();
        if (ask.headOnly === true) {
          clearTimeout(late);
          resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes: Buffer.alloc(0) });
          res.on('error', () => undefined); // we end it
          res.destroy();
          return;
        }
        bodyOf(res)
          .then((bytes) => resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes }))
          .catch((error: unknown) => reject(new Failed(`${at}: the answer broke off: ${String(error)}.`)))
          .finally(() => clearTimeout(late));
      });
      req.end(body);
    });
  }
}

async function bodyOf(res: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(res)) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
