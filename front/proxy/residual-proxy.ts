import type { KeyObject } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { Agent, type ClientRequestArgs, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { PRINCIPAL_HEADER, signPrincipal } from '../../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Pass } from '../edge/decide.ts';
import { CREDENTIALS, headerName, MARKS } from '../edge/headers.ts';

/**
 * Forwards a decided request to the residual over its Unix socket: the very bytes that were decided upon, without the
 * caller's credentials, with the caller's identity signed by us. Never retries (spec/decisions.md 4).
 */

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
const MAX_SOCKETS = 128;
// Shorter than the residual's own keep-alive (60 s), so that no request goes out on a socket that it is just closing.
const IDLE_MS = 30_000;

export interface ResidualProxyOptions {
  readonly socketPath: string;
  /** The per-boot secret that the residual knows too. */
  readonly secret: KeyObject;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface Forwarded {
  readonly pass: Pass;
  readonly raw: Buffer | null;
  readonly fail: (error: ApiError) => void;
  timer: NodeJS.Timeout | null;
}

// A member of the request, not a WeakMap: at thousands of requests a second the collector pays dearly for one.
const FORWARDED = Symbol('forwarded');
type Tagged = IncomingMessage & { [FORWARDED]?: Forwarded | undefined };

/** The caller's headers as the residual may see them. */
export function cleanHeaders(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => headerName(name.trim())));
  const clean: IncomingMessage['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    const plain = headerName(name);
    if (MARKS.has(plain) || CREDENTIALS.has(plain) || HOP_BY_HOP.has(plain) || named.has(plain)) continue;
    // Our own namespace is ours: whatever else a client sends in it means nothing behind the front.
    if (plain.startsWith('x-svc-')) continue;
    clean[name] = value;
  }
  return clean;
}

/**
 * Connects only to a socket that is our own: connect(2) would follow a symbolic link to somebody else's, and who answers there
 * would be believed (attack case H5). Looked at for each new connection, not for each request.
 */
class OwnSocketAgent extends Agent {
  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const path = options.socketPath ?? '';
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.isSocket() && found.uid === process.getuid?.()))
      return super.createConnection(options, callback);
    const error = new Error(`${path} is not a socket of ours`);
    return new Socket().destroy(Object.assign(error, { code: 'ECONNREFUSED' })); // as if nobody listened
  }
}

export class ResidualProxy {
  readonly #options: ResidualProxyOptions;
  readonly #agent = new OwnSocketAgent({
    keepAlive: true,
    maxSockets: MAX_SOCKETS,
    maxFreeSockets: 64,
    timeout: IDLE_MS,
  });
  readonly #middleware: ReturnType<typeof createProxyMiddleware>;

  constructor(options: ResidualProxyOptions) {
    this.#options = options;
    this.#middleware = createProxyMiddleware({
      target: { socketPath: options.socketPath, protocol: 'http:', host: 'localhost', port: 80 },
      agent: this.#agent,
      xfwd: false,
      // The library's own plugins answer errors in plain text; ours go through the one error body.
      ejectPlugins: true,
      plugins: [
        (proxy) => {
          proxy.on('proxyReq', (proxyReq, req) => {
            const forwarded = (req as Tagged)[FORWARDED];
            if (forwarded === undefined) return;
            forwarded.timer = setTimeout(() => {
              proxyReq.destroy(
                new ApiError('E_TIMEOUT', `No answer within ${forwarded.pass.row.limits.timeoutMs} ms.`),
              );
            }, forwarded.pass.row.limits.timeoutMs);
            proxyReq.once('close', () => clearTimeout(forwarded.timer ?? undefined));
            if (forwarded.raw !== null) {
              proxyReq.setHeader('content-length', forwarded.raw.length);
              proxyReq.write(forwarded.raw);
            }
          });
          proxy.on('proxyRes', (proxyRes, req, res) => {
            clearTimeout((req as Tagged)[FORWARDED]?.timer ?? undefined);
            // What the residual says of its connection to us is not about the client's.
            delete proxyRes.headers['keep-alive'];
            proxyRes.headers.connection = res.shouldKeepAlive ? 'keep-alive' : 'close';
          });
          proxy.on('error', (error, req) => {
            if (req !== undefined) this.#failed(error, req);
          });
        },
      ],
    });
  }

  stop(): void {
    this.#agent.destroy();
  }

  /**
   * @param raw the body where the edge has already read it, else null and it streams
   * @param fail called once instead of an answer when there is none
   */
  forward(
    req: IncomingMessage,
    res: ServerResponse,
    pass: Pass,
    raw: Buffer | null,
    fail: (error: ApiError) => void,
  ): void {
    const { secret, now } = this.#options;
    const headers = cleanHeaders(req.headers);
    headers[PRINCIPAL_HEADER] = signPrincipal(secret, pass, req.method ?? '', req.url ?? '', now());
    if (raw === null && req.headers['transfer-encoding'] !== undefined)
      headers['transfer-encoding'] = 'chunked';
    req.headers = headers;
    const forwarded: Forwarded = { pass, raw, fail, timer: null };
    (req as Tagged)[FORWARDED] = forwarded;
    void this.#middleware(req, res, () => undefined); // errors come through the event, so that they come once
  }

  #failed(error: Error, req: IncomingMessage): void {
    const forwarded = (req as Tagged)[FORWARDED];
    if (forwarded === undefined) return;
    delete (req as Tagged)[FORWARDED];
    clearTimeout(forwarded.timer ?? undefined);
    forwarded.fail(this.#apiError(error));
  }

  #apiError(error: Error): ApiError {
    if (error instanceof ApiError) return error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ECONNREFUSED', 'EACCES'].includes(code)) {
      return new ApiError(
        'E_UPSTREAM_DOWN',
        'The residual process is not running at the moment. Try again shortly.',
        {},
        { 'retry-after': '1' },
      );
    }
    this.#options.log.warn(`residual: ${code} ${messageOf(error)}`);
    return new ApiError('E_UPSTREAM', 'The residual process broke off before it answered. Try again.');
  }
}
