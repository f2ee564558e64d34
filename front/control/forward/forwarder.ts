import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware, type Options } from 'http-proxy-middleware';
import { every } from '../../../shared/async/every.ts';
import { TICKET_PROTOCOL } from '../../../shared/auth/principal-mark.ts';
import { ApiError } from '../../../shared/errors.ts';
import { hasBody } from '../../../shared/http/body.ts';
import { headerName } from '../../../shared/http/edge/head.ts';
import type { Pass } from '../edge/decision.ts';
import { ticketIn } from '../edge/headers.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';
import type { Step } from '../middleware/exchange.ts';

/**
 * Forwards decided requests and upgrades to another process or node: the same bytes that the decision was about, without the
 * caller's credentials. Never retries (docs/contract/edge.md#handler-or-proxy).
 */

/** Hop-by-hop headers, and credentials outside our namespace (RFC 9110 7.6.1; docs/contract/edge.md#headers). */
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
// How late a time-out may come.
const SWEEP_MS = 250;
const MAX_UPGRADED = 256;

interface ForwarderOptions {
  readonly agent: Agent;
  /** Where it goes, by the request where there are several. */
  readonly target: Pick<Options, 'target' | 'router'>;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly principalWatch: PrincipalWatch;
  /** Added to the clean headers of the request. */
  readonly headers: (pass: Pass) => Readonly<Record<string, string>>;
  /** From the complete request to the first byte of the answer, ms. */
  readonly timeoutMs: (pass: Pass) => number;
  /** The answer to a request that came to nothing. */
  readonly errorOf: (error: Error, pass: Pass) => ApiError;
  /** An answer has begun, whatever it says. */
  readonly onAnswer?: (pass: Pass) => void;
  /** The error for a request without an answer in time. */
  readonly lateOf: (pass: Pass) => ApiError;
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
function tagsOf(req: object): { [FORWARDED]?: Forwarded } {
  return req;
}

/** The caller's headers, for the next hop. A client's headers with our prefix `x-svc-` are removed. */
function cleanHeaders(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
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

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #proxy: ReturnType<typeof createProxyMiddleware<IncomingMessage>>;
  /** Requests without an answer yet; one timer checks them all. */
  readonly #waiting = new Set<Forwarded>();
  #sweep: NodeJS.Timeout | null = null;
  /** WebSockets that go through us. */
  #upgraded = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#proxy = createProxyMiddleware({
      ...options.target,
      agent: options.agent,
      xfwd: false,
      // The library's own plugins answer errors in plain text; ours use the one error body.
      ejectPlugins: true,
      plugins: [
        (proxy) => {
          proxy.on('proxyReq', (proxyReq, req) => {
            const forwarded = tagsOf(req)[FORWARDED];
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
            const forwarded = tagsOf(req)[FORWARDED];
            if (forwarded === undefined) return;
            forwarded.request = proxyReq;
            const answered = (): void => void this.#waiting.delete(forwarded);
            proxyReq.once('response', answered).once('close', answered);
            const gone = (): void => void proxyReq.destroy();
            socket.once('close', gone);
            // The library keeps one side open after the other was closed.
            proxyReq.once('upgrade', (_answer, ours: Duplex) => {
              answered();
              // From now on the bytes are the WebSocket's: an error has no receiver.
              delete tagsOf(req)[FORWARDED];
              socket.off('close', gone).once('close', () => ours.destroy());
              ours.once('close', () => socket.destroy());
            });
          });
          proxy.on('proxyRes', (proxyRes, req, res) => {
            const forwarded = tagsOf(req)[FORWARDED];
            if (forwarded !== undefined) {
              this.#waiting.delete(forwarded);
              options.onAnswer?.(forwarded.pass);
            }
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

  start(): void {
    this.#sweep = every(SWEEP_MS, 'proxy', () => this.#endLate());
  }

  stop(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#options.agent.destroy();
  }

  /** Forwards a request that has passed decide and settle, and returns the answer. */
  readonly middleware: Step = (req, res, next) => {
    const { pass, raw, announced } = res.locals;
    const { principal, row, policy } = pass;
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
      const { bodyMs } = row.scope === 'inner' ? policy.limits : row.limits;
      forwarded.deadline = this.#deadline(pass, bodyMs);
      req.once('end', () => {
        forwarded.deadline = this.#deadline(pass, 0);
      });
    }
    // Already answered (its body came too late), or the client disconnected: later errors have no receiver.
    res.once('close', () => {
      delete tagsOf(req)[FORWARDED];
      if (this.#waiting.delete(forwarded)) forwarded.request?.destroy();
    });
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
    const deadline = this.#deadline(pass, 0);
    const forwarded: Forwarded = { pass, req, raw, fail, deadline, request: null };
    tagsOf(req)[FORWARDED] = forwarded;
    this.#waiting.add(forwarded);
    return forwarded;
  }

  #headersFor(req: IncomingMessage, pass: Pass): IncomingMessage['headers'] {
    return { ...cleanHeaders(req.headers), ...this.#options.headers(pass) };
  }

  #deadline(pass: Pass, bodyMs: number): number {
    return this.#options.now() + bodyMs + this.#options.timeoutMs(pass);
  }

  #endLate(): void {
    const now = this.#options.now();
    for (const { deadline, request, pass, req } of this.#waiting) {
      if (deadline > now) continue;
      const late = this.#options.lateOf(pass);
      if (request !== null) request.destroy(late);
      else this.#failed(late, req);
    }
  }

  #failed(error: Error, req: IncomingMessage): void {
    const forwarded = tagsOf(req)[FORWARDED];
    if (forwarded === undefined) return;
    delete tagsOf(req)[FORWARDED];
    this.#waiting.delete(forwarded);
    forwarded.fail(error instanceof ApiError ? error : this.#options.errorOf(error, forwarded.pass));
  }
}
