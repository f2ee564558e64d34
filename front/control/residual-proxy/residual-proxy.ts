import { lstatSync } from 'node:fs';
import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { every } from '../../../shared/async/every.ts';
import { LOCAL_SOCKET, type Principal } from '../../../shared/auth/principal.ts';
import {
  ENDED_ROW,
  encodeMark,
  type Mark,
  PRINCIPAL_HEADER,
  PROOF_HEADER,
  TICKET_PROTOCOL,
} from '../../../shared/auth/principal-mark.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { hasBody, readBytes } from '../../../shared/http/body.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { Pass } from '../edge/decide.ts';
import { headerName, ticketIn } from '../edge/headers.ts';
import type { Step } from '../exchange.ts';
import type { PrincipalWatch } from '../principal-watch.ts';

/**
 * Forwards a decided request to the residual over its Unix socket: the same bytes that the decision was about, without the
 * caller's credentials, and with the decision. Never retries (docs/contract.md 4.14).
 */

/** Hop-by-hop headers, and credentials outside our namespace (RFC 9110 7.6.1; docs/contract.md 4.3). */
const DROPPED: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
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
const SCOPES_HEADER = 'x-svc-mcp-scopes';
const MAX_SOCKETS = 128;
// Shorter than the residual's own keep-alive (60 s), so that no request goes out on a socket that the residual is closing.
const IDLE_MS = 30_000;
// How late a time-out may come.
const SWEEP_MS = 250;
const MAX_UPGRADED = 256;
const MAX_WATCHED = 1024;
const CALL_MS = 500;
const END_TRIES = 5;
const MAX_ANSWER_BYTES = 64 * 1024;

export interface ResidualProxyOptions {
  readonly socketPath: string;
  /** Proves to the residual that we are svc-control. */
  readonly proof: string;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly principalWatch: PrincipalWatch;
  readonly log: Logger;
}

interface Forwarded {
  readonly pass: Pass;
  readonly req: IncomingMessage;
  /** The body if it has been read; undefined if it streams. */
  readonly raw: Buffer | undefined;
  readonly fail: (error: ApiError) => void;
  /** Monotonic, ms; the request ends if the answer has not started by then. */
  deadline: number;
  /** Null while no connection is free. */
  request: ClientRequest | null;
}

// A member of the request, not a WeakMap: at thousands of requests a second a WeakMap makes garbage collection slow.
const FORWARDED = Symbol('forwarded');
type Tagged = IncomingMessage & { [FORWARDED]?: Forwarded | undefined };

/** The caller's headers for the residual. A client's headers with our prefix `x-svc-` are removed. */
export function cleanHeaders(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const named = namedByConnection(headers.connection);
  const clean: IncomingMessage['headers'] = {};
  for (const name in headers) {
    const plain = headerName(name);
    if (plain.startsWith('x-svc-') || DROPPED.has(plain) || named?.has(plain) === true) continue;
    clean[name] = headers[name];
  }
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined && ticketIn(protocols) !== null)
    clean['sec-websocket-protocol'] = TICKET_PROTOCOL;
  return clean;
}

/** The headers that the client's Connection header names, which must be removed; null if it names none, as almost always. */
function namedByConnection(connection: string | undefined): ReadonlySet<string> | null {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null;
  return new Set(connection.split(',').map((name) => headerName(name.trim())));
}

/**
 * Connects only to a socket that is our own: connect(2) would follow a symbolic link to another user's socket, and we would
 * trust its answers (docs/threat-model.md H5). Checked for each new connection, not for each request.
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
    return new Socket().destroy(Object.assign(error, { code: 'ECONNREFUSED' })); // the same error as if nothing listened
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
  readonly #proxy: ReturnType<typeof createProxyMiddleware>;
  /** Requests without an answer yet; one timer checks them all. */
  readonly #waiting = new Set<Forwarded>();
  #sweep: NodeJS.Timeout | null = null;
  /** WebSockets that go through us. */
  #upgraded = 0;
  /** Principals that may have something open in the residual, by id, oldest first. */
  readonly #watched = new Map<string, () => void>();

  constructor(options: ResidualProxyOptions) {
    this.#options = options;
    this.#proxy = createProxyMiddleware({
      target: { socketPath: options.socketPath, protocol: 'http:', host: 'localhost', port: 80 },
      agent: this.#agent,
      xfwd: false,
      // The library's own plugins answer errors in plain text; ours use the one error body.
      ejectPlugins: true,
      plugins: [
        (proxy) => {
          proxy.on('proxyReq', (proxyReq, req) => {
            const forwarded = (req as Tagged)[FORWARDED];
            if (forwarded === undefined) {
              proxyReq.destroy(); // it was answered while it waited for a connection
              return;
            }
            forwarded.request = proxyReq;
            proxyReq.once('close', () => this.#waiting.delete(forwarded));
            if (forwarded.raw !== undefined) {
              proxyReq.setHeader('content-length', forwarded.raw.length);
              proxyReq.write(forwarded.raw);
            }
          });
          proxy.on('proxyReqWs', (proxyReq, req, socket) => {
            const forwarded = (req as Tagged)[FORWARDED];
            if (forwarded === undefined) return;
            forwarded.request = proxyReq;
            const answered = (): void => void this.#waiting.delete(forwarded);
            proxyReq.once('response', answered).once('close', answered);
            const gone = (): void => void proxyReq.destroy();
            socket.once('close', gone);
            // The library keeps one side open after the other was closed.
            proxyReq.once('upgrade', (_answer, ours: Duplex) => {
              answered();
              socket.off('close', gone).once('close', () => ours.destroy());
              ours.once('close', () => socket.destroy());
            });
          });
          proxy.on('proxyRes', (proxyRes, req, res) => {
            const forwarded = (req as Tagged)[FORWARDED];
            if (forwarded !== undefined) this.#waiting.delete(forwarded);
            // The residual's connection headers are about its connection to us, not about the client's.
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

  /** Whoever has something open in the residual since before this process began is watched again. */
  start(): void {
    this.#sweep = every(SWEEP_MS, 'proxy', () => this.#endLate());
    this.#end([], (open) => {
      for (const principal of open) this.#watch(principal);
    });
  }

  stop(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#agent.destroy();
  }

  /** Forwards a request that has passed decide and settle, and returns the answer. */
  readonly middleware: Step = (req, res, next) => {
    const { pass, raw, announced } = res.locals;
    const { row, principal } = pass;
    if (announced !== undefined) {
      // Only the status of a proxied answer is known; if there is none, the client disconnected before the answer.
      res.once('close', () => {
        const { statusCode: status } = res;
        if (!res.headersSent) announced.settle(499, 'unknown');
        else announced.settle(status, status < 400 ? 'done' : 'failed');
      });
    }
    // An answer may take hours (following a log); it ends when its principal ends.
    res.once(
      'close',
      this.#options.principalWatch.onEnd(principal, () => res.destroy()),
    );
    const headers = this.#headersFor(req, pass);
    if (raw === undefined && req.headers['transfer-encoding'] !== undefined)
      headers['transfer-encoding'] = 'chunked';
    req.headers = headers;
    const forwarded = this.#await(req, pass, raw, next);
    if (raw === undefined && hasBody(req)) {
      forwarded.deadline = this.#deadline(row, row.limits.bodyMs);
      req.once('end', () => {
        forwarded.deadline = this.#deadline(row, 0);
      });
    }
    // Already answered (its body came too late), or the client disconnected: later errors have no receiver.
    res.once('close', () => {
      delete (req as Tagged)[FORWARDED];
      if (this.#waiting.delete(forwarded)) forwarded.request?.destroy();
    });
    if (row.method !== 'GET') this.#watch(principal);
    void this.#proxy(req, res, () => undefined); // errors are handled by the event, so that each is handled once
  };

  get full(): boolean {
    return this.#upgraded >= MAX_UPGRADED;
  }

  /**
   * Hands the socket of an upgrade that was decided and settled to the residual, which completes the handshake or refuses it.
   * The socket ends when its principal ends.
   * @param fail called instead of an answer when there is none
   */
  upgrade(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    pass: Pass,
    fail: (error: ApiError) => void,
  ): void {
    const { connection, upgrade } = req.headers;
    req.headers = { ...this.#headersFor(req, pass), connection, upgrade };
    this.#await(req, pass, undefined, fail);
    this.#upgraded++;
    const release = this.#options.principalWatch.onEnd(pass.principal, () => socket.destroy());
    socket.once('close', () => {
      this.#upgraded--;
      release();
    });
    this.#proxy.upgrade(req, socket as Socket, head);
  }

  /** From now on the request is answered, or fails when its time is over. */
  #await(
    req: IncomingMessage,
    pass: Pass,
    raw: Buffer | undefined,
    fail: (error: ApiError) => void,
  ): Forwarded {
    const deadline = this.#deadline(pass.row, 0);
    const forwarded: Forwarded = { pass, req, raw, fail, deadline, request: null };
    (req as Tagged)[FORWARDED] = forwarded;
    this.#waiting.add(forwarded);
    return forwarded;
  }

  #headersFor(req: IncomingMessage, { row, params, principal, forced }: Pass): IncomingMessage['headers'] {
    const headers = cleanHeaders(req.headers);
    headers[PROOF_HEADER] = this.#options.proof;
    headers[PRINCIPAL_HEADER] = encodeMark({ row: row.id, params, principal, forced });
    // Only set for a verified token; the client's own header was removed above.
    if (principal.scopes !== null) headers[SCOPES_HEADER] = principal.scopes.join(',');
    return headers;
  }

  #deadline(row: Row, bodyMs: number): number {
    return this.#options.now() + bodyMs + row.limits.timeoutMs;
  }

  /** Tells the residual when this principal has ended, so that the things it opened there (a WHEP session) end too. */
  #watch(principal: Principal): void {
    const { id } = principal;
    if (this.#watched.has(id)) return;
    const [oldest] = this.#watched;
    if (this.#watched.size >= MAX_WATCHED && oldest !== undefined) {
      oldest[1]();
      this.#watched.delete(oldest[0]);
    }
    const release = this.#options.principalWatch.onEnd(principal, () => {
      this.#watched.delete(id);
      this.#end([id], () => undefined);
    });
    this.#watched.set(id, release);
  }

  /** The answer of a GET row without parameters, for svc-control itself; null if there is no answer. */
  async ask({ id, path }: Pick<Row, 'id' | 'path'>): Promise<unknown> {
    return this.#call(id, path, {}).catch((error: unknown) => {
      this.#options.log.debug(`residual: ${id}: ${messageOf(error)}`); // its own routes report that it is away
      return null;
    });
  }

  /** @param left remaining tries; a residual that does not run has nothing open */
  #end(ids: readonly string[], answered: (open: readonly Principal[]) => void, left = END_TRIES): void {
    this.#call(ENDED_ROW, '/', Object.fromEntries(ids.entries())).then(
      (open) => answered(open as readonly Principal[]),
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return;
        if (left > 1) this.#end(ids, answered, left - 1);
        else
          this.#options.log.error(
            `residual: could not be notified that ${ids.join(', ')} ended: ${messageOf(error)}`,
          );
      },
    );
  }

  /**
   * Sends the residual a request of our own. @throws the connection's error, ApiError E_UPSTREAM for another answer than 200
   */
  async #call(row: string, path: string, params: Mark['params']): Promise<unknown> {
    const { proof, socketPath } = this.#options;
    const mark: Mark = { row, params, principal: LOCAL_SOCKET, forced: false };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = httpRequest({
        socketPath,
        path,
        agent: this.#agent,
        headers: { [PROOF_HEADER]: proof, [PRINCIPAL_HEADER]: encodeMark(mark) },
        timeout: CALL_MS,
      });
      call.on('timeout', () => call.destroy(new Error(`no answer within ${CALL_MS} ms`)));
      call.on('error', reject);
      call.on('response', resolve);
      call.end();
    });
    const text = (await readBytes(answer, MAX_ANSWER_BYTES)).toString('utf8');
    if (answer.statusCode !== 200)
      throw new ApiError('E_UPSTREAM', `The residual answered ${answer.statusCode ?? 0}.`);
    return JSON.parse(text);
  }

  #endLate(): void {
    const now = this.#options.now();
    for (const { deadline, request, pass, req } of this.#waiting) {
      if (deadline > now) continue;
      const late = new ApiError('E_TIMEOUT', `No answer within ${pass.row.limits.timeoutMs} ms.`);
      if (request !== null) request.destroy(late);
      else this.#failed(late, req);
    }
  }

  #failed(error: Error, req: IncomingMessage): void {
    const forwarded = (req as Tagged)[FORWARDED];
    if (forwarded === undefined) return;
    delete (req as Tagged)[FORWARDED];
    this.#waiting.delete(forwarded);
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
