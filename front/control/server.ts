import { hash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { classifyAddress, peerKey, plainAddress } from '../../shared/auth/address.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import { ApiError, ERRORS, messageOf } from '../../shared/errors.ts';
import { type Failure, failureOf, rawFailure, sendFailure, sendValue } from '../../shared/http/answer.ts';
import { checkType, hasBody, parseJson, readBytes, readJson } from '../../shared/http/json-body.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { type Handler, Reply, type SocketHandler } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ConnectionCaps } from './edge/connections.ts';
import {
  decide,
  type EdgeState,
  type Pass,
  type Peer,
  type Refusal,
  type RequestHead,
  settle,
} from './edge/decide.ts';
import { changedBy, needsAudit } from './edge/evidence.ts';
import { hasRoutable } from './edge/interfaces.ts';
import type { OnBoxRule } from './edge/on-box.ts';
import type { PeerBudgets } from './edge/rate.ts';
import { createExpressApp } from './express-app.ts';
import type { ResidualProxy } from './residual-proxy/residual-proxy.ts';
import type { OpenSockets } from './sockets/open-sockets.ts';
import type { Announced, AuditLog } from './stores/audit.ts';
import type { Tenures } from './tenures.ts';

/** Explicit bounds of the HTTP server; Node's own defaults are mostly longer or absent. */
export const SERVER_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 15_000,
  connectionsCheckMs: 1000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  maxConnections: 1024,
  maxRequestsPerSocket: 100_000,
} as const;

export interface FrontOptions {
  readonly state: EdgeState;
  readonly budgets: PeerBudgets;
  /** By row id. */
  readonly handlers: ReadonlyMap<string, Handler<Row>>;
  /** By row id. */
  readonly socketHandlers: ReadonlyMap<string, SocketHandler<Row, WebSocket>>;
  readonly sockets: OpenSockets;
  /** Null in a build without the residual. */
  readonly proxy: ResidualProxy | null;
  readonly onBox: OnBoxRule;
  readonly audit: Pick<AuditLog, 'refused' | 'announce'>;
  /** Uses up a credential that holds once; false when somebody else was faster. */
  readonly spend: (principal: Principal, headers: IncomingHttpHeaders) => boolean;
  /** What ends with whoever opened it. */
  readonly tenures: Tenures;
  readonly drainMs: number;
  readonly log: Logger;
}

// As much as the largest JSON body that any row takes.
const MAX_RELAYED_BYTES = 64 * 1024;

interface ReadBody {
  /** The bytes, where the edge has read them. */
  readonly raw: Buffer | null;
  readonly value: unknown;
}

/** Who has shown a credential of his own. */
const SHOWN: ReadonlySet<Principal['kind']> = new Set<Principal['kind']>([
  'key',
  'session',
  'token',
  'ticket',
]);
/** The features whose changes end principals. */
const ENDING: ReadonlySet<Row['feature']> = new Set<Row['feature']>(['pairing', 'mcp']);

const NO_BODY: ReadBody = { raw: null, value: undefined };

interface Origin {
  readonly kind: Peer['kind'];
  readonly ip: string;
  /** Whom budgets, locks and counts are kept for. */
  readonly peer: string;
  readonly address: Peer['address'];
  readonly trusted: () => boolean;
}

// Kept on the socket: classified once a connection, and no WeakMap for the collector to walk.
const ORIGIN = Symbol('origin');
type Tagged = Socket & { [ORIGIN]?: Origin };
// The change that an answer is about, until its outcome is known.
const ANNOUNCED = Symbol('announced');
type Answer = ServerResponse & { [ANNOUNCED]?: Announced };

/**
 * The HTTP side of the front: one Express application behind any number of listeners (TCP, control.sock). For each request
 * it asks `decide`, reads the body where there is one, asks `settle`, and calls the handler or the proxy.
 */
export class FrontServer {
  readonly #options: FrontOptions;
  readonly #servers: Server[] = [];
  readonly #caps = new ConnectionCaps(SERVER_LIMITS.maxConnections);
  #draining = false;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /** A server for one listener. @param kind `unix` for control.sock */
  createServer(kind: Peer['kind']): Server {
    const { options, app } = createExpressApp((req, res) => {
      try {
        this.#serve(req, res, kind);
      } catch (error) {
        this.#fail(res, error);
      }
    });
    const server = createServer(
      {
        ...options,
        maxHeaderSize: SERVER_LIMITS.maxHeaderBytes,
        connectionsCheckingInterval: SERVER_LIMITS.connectionsCheckMs,
        headersTimeout: SERVER_LIMITS.headersTimeoutMs,
        requestTimeout: SERVER_LIMITS.requestTimeoutMs,
        keepAliveTimeout: SERVER_LIMITS.keepAliveTimeoutMs,
        requireHostHeader: false, // decide() asks for it, and answers in JSON
        insecureHTTPParser: false,
        // Any other upgrade that a client offers (h2c) is an offer: the request is answered as it stands.
        shouldUpgradeCallback: (req) => req.headers.upgrade?.toLowerCase() === 'websocket',
      },
      app,
    );
    server.maxHeadersCount = SERVER_LIMITS.maxHeaders;
    server.maxConnections = SERVER_LIMITS.maxConnections;
    if (kind === 'tcp') server.on('connection', (socket) => this.#admit(socket));
    server.maxRequestsPerSocket = SERVER_LIMITS.maxRequestsPerSocket;
    // Without this listener node says "100 Continue" to everybody; the body must wait for the decision.
    server.on('checkContinue', (req, res) => app(req, res));
    server.on('checkExpectation', (_req, res) =>
      this.#fail(res, new ApiError('E_BAD_REQUEST', 'Unknown Expect header.')),
    );
    server.on('upgrade', (req, socket, head) => this.#upgrade(req, socket, head, kind));
    server.on('connect', (_req, socket) => endWith(socket, failureOf(new ApiError('E_METHOD'))));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (socket.destroyed || !socket.writable) return;
      endWith(socket, failureOf(clientError(error)));
    });
    this.#servers.push(server);
    return server;
  }

  /** Before a byte of it is read: nobody takes every connection. */
  #admit(socket: Socket): void {
    const { peer, address } = this.#originOf(socket, 'tcp');
    if (!this.#caps.open(peer, address === 'loopback')) {
      socket.destroy();
      return;
    }
    socket.once('close', () => this.#caps.close(peer));
  }

  /** Stops accepting, lets requests in flight finish for at most `drainMs`, then cuts what is left. */
  async drain(): Promise<void> {
    this.#draining = true;
    const closed = this.#servers.map(
      async (server) =>
        new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve())),
    );
    const cut = setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections();
    }, this.#options.drainMs);
    await Promise.all(closed);
    clearTimeout(cut);
  }

  /** Synchronous as far as it goes: most requests are answered without a promise. */
  #serve(req: IncomingMessage, res: ServerResponse, kind: Peer['kind']): void {
    if (this.#draining) res.setHeader('connection', 'close');
    const origin = this.#originOf(req.socket, kind);
    if (req.headers['x-svc-relay-ticket'] === undefined) {
      this.#decided(req, res, origin, null);
      return;
    }
    // A relay ticket is bound to the body, so here alone the body is read before the decision, and only a small one.
    readBytes(req, MAX_RELAYED_BYTES)
      .then((raw) => this.#decided(req, res, origin, raw))
      .catch((error: unknown) => this.#fail(res, error));
  }

  /** @param early the body, where it had to be read before */
  #decided(req: IncomingMessage, res: ServerResponse, origin: Origin, early: Buffer | null): void {
    const { state, budgets, spend } = this.#options;
    const decision = decide(this.#head(req, false, origin, early), state);
    switch (decision.kind) {
      case 'preflight':
        res.writeHead(204, decision.headers).end();
        return;
      case 'refuse':
        this.#refuse(req, res, decision, origin);
        return;
      case 'pass':
        if (decision.counted) budgets.spend(origin.peer);
        if (SHOWN.has(decision.principal.kind)) this.#caps.know(origin.peer);
        if (decision.cors !== null) allowOrigin(res, decision.cors);
        if (!spend(decision.principal, req.headers)) throw new ApiError('E_UNAUTHENTICATED');
        if (decision.row.bodyMedia !== null) checkType(req, decision.row.bodyMedia);
        if (!hasBody(req)) this.#proceed(req, res, decision, NO_BODY, origin);
        else {
          this.#readBody(req, res, decision.row, early)
            .then((body) => this.#proceed(req, res, decision, body, origin))
            .catch((error: unknown) => this.#fail(res, error));
        }
    }
  }

  async #readBody(
    req: IncomingMessage,
    res: ServerResponse,
    row: Row,
    early: Buffer | null,
  ): Promise<ReadBody> {
    checkAnnounced(req, row);
    if (early !== null)
      return row.bodyKind === 'json' ? parseJson(req, early) : { raw: early, value: undefined };
    if (req.headers.expect !== undefined) res.writeContinue();
    return row.bodyKind === 'json' ? readJson(req, row.limits.bodyBytes) : NO_BODY;
  }

  #proceed(
    req: IncomingMessage,
    res: ServerResponse,
    pass: Pass,
    { raw, value: body }: ReadBody,
    origin: Origin,
  ): void {
    const { row } = pass;
    const settled = settle(pass, body, this.#options.state);
    if (settled.kind === 'refuse') {
      this.#refuse(req, res, settled, origin);
      return;
    }
    const announced = this.#announce(settled, body, origin);
    if (announced !== null) (res as Answer)[ANNOUNCED] = announced;
    if (row.lane === 'residual') {
      this.#forward(req, res, settled, raw);
      return;
    }
    const handler = this.#options.handlers.get(row.id);
    if (handler === undefined) throw new Error(`row ${row.id} is built and has no handler`);
    const { params, query, principal, forced } = settled;
    const result = handler({
      params,
      query,
      body,
      principal,
      peer: origin.peer,
      forced,
      headers: req.headers,
    });
    if (!(result instanceof Promise)) {
      sendValue(res, result);
      announced?.settle(res.statusCode, 'done');
      return;
    }
    within(result, row.limits.timeoutMs)
      .then((value: unknown) => {
        if (ENDING.has(row.feature)) this.#options.tenures.recheck();
        if (!res.destroyed) sendValue(res, value);
        announced?.settle(value instanceof Reply ? value.status : 200, 'done');
      })
      .catch((error: unknown) => this.#fail(res, error));
  }

  #forward(req: IncomingMessage, res: ServerResponse, pass: Pass, raw: Buffer | null): void {
    const { proxy } = this.#options;
    if (proxy === null) throw new ApiError('E_NOT_IMPLEMENTED');
    const announced = (res as Answer)[ANNOUNCED];
    if (announced !== undefined) {
      // Behind the proxy the status is all that is known; without one the client went before there was an answer.
      res.once('close', () => {
        const { statusCode: status } = res;
        if (!res.headersSent) announced.settle(499, 'unknown');
        else announced.settle(status, status < 400 ? 'done' : 'failed');
      });
    }
    // An answer may go on for hours (a log that is followed); it ends with whom it is for.
    res.once(
      'close',
      this.#options.tenures.begin(pass.principal, () => res.destroy()),
    );
    proxy.forward(req, res, pass, raw, (error) => this.#fail(res, error));
  }

  #refuse(req: IncomingMessage, res: ServerResponse, refusal: Refusal, origin: Origin): void {
    this.#count(refusal, origin);
    if (refusal.cors !== null && !res.hasHeader('vary')) allowOrigin(res, refusal.cors);
    // A body that nobody asked for is not read: the connection ends with the answer.
    const close: Readonly<Record<string, string>> =
      hasBody(req) && !req.complete ? { connection: 'close' } : {};
    sendFailure(res, refusal, close);
  }

  /** An upgrade goes through the same decision as a request; only then is there a WebSocket. */
  #upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, kind: Peer['kind']): void {
    const { state, budgets, sockets, spend, socketHandlers } = this.#options;
    socket.on('error', (error) => this.#options.log.debug(`upgrade: ${messageOf(error)}`));
    const origin = this.#originOf(req.socket, kind);
    const first = decide(this.#head(req, true, origin, Buffer.alloc(0)), state);
    const decision = first.kind === 'pass' ? settle(first, undefined, state) : first;
    if (decision.kind === 'refuse') {
      this.#count(decision, origin);
      endWith(socket, decision);
      return;
    }
    const handler = decision.kind === 'pass' ? socketHandlers.get(decision.row.id) : undefined;
    if (decision.kind !== 'pass' || handler === undefined) {
      endWith(socket, failureOf(new ApiError('E_NOT_IMPLEMENTED')));
      return;
    }
    if (this.#draining || sockets.full) {
      endWith(
        socket,
        failureOf(new ApiError('E_DRAINING', 'No more WebSockets at the moment. Try again shortly.')),
      );
      return;
    }
    if (!spend(decision.principal, req.headers)) {
      endWith(socket, failureOf(new ApiError('E_UNAUTHENTICATED')));
      return;
    }
    if (decision.counted) budgets.spend(origin.peer);
    let announced: Announced | null;
    try {
      announced = this.#announce(decision, undefined, origin);
    } catch (error) {
      endWith(socket, failureOf(error));
      return;
    }
    const { params, query, principal, forced } = decision;
    sockets.accept(req, socket, head, principal, (ws, ended) => {
      ws.once('close', () => announced?.settle(101, 'closed'));
      handler({ params, query, principal, peer: origin.peer, forced, headers: req.headers }, ws, ended);
    });
  }

  #head(req: IncomingMessage, upgrade: boolean, origin: Origin, body: Buffer | null): RequestHead {
    const { budgets } = this.#options;
    return {
      method: req.method ?? '',
      target: req.url ?? '',
      rawHeaders: req.rawHeaders,
      upgrade,
      bodyHash: body === null ? null : hash('sha256', body, 'hex'),
      peer: {
        kind: origin.kind,
        address: origin.address,
        limitedFor: budgets.limitedFor(origin.peer),
        lockedFor: budgets.lockedFor(origin.peer),
        trusted: origin.trusted,
      },
    };
  }

  #originOf(socket: Socket, kind: Peer['kind']): Origin {
    const known = (socket as Tagged)[ORIGIN];
    if (known !== undefined) return known;
    const ip = kind === 'unix' ? 'unix' : plainAddress(socket.remoteAddress ?? '');
    const origin: Origin = {
      kind,
      ip,
      peer: peerKey(ip),
      address:
        kind === 'unix'
          ? 'loopback'
          : classifyAddress(socket.remoteAddress, {
              local: socket.localAddress,
              isRoutable: (local) => hasRoutable(networkInterfaces(), local),
            }),
      trusted: () => kind === 'unix' || this.#options.onBox.trusts(socket),
    };
    (socket as Tagged)[ORIGIN] = origin;
    return origin;
  }

  /** What a refusal costs its peer, and what stays of it. */
  #count(refusal: Refusal, origin: Origin): void {
    const { budgets, audit } = this.#options;
    if (refusal.counted) budgets.spend(origin.peer);
    if (refusal.failedCredential) budgets.fail(origin.peer);
    audit.refused(origin.peer, { ...recordOf(refusal, origin), outcome: refusal.code });
  }

  /**
   * Writes down what is about to be changed, or which secret is about to be read: who has it since when is what an owner asks
   * afterwards. Null for what is neither.
   * @throws ApiError E_AUDIT for what is not done unless it is written down
   */
  #announce(pass: Pass, body: unknown, origin: Origin): Announced | null {
    const { row } = pass;
    const isEvent = row.method === 'WS' ? row.blast !== 'none' : row.method !== 'GET';
    if (!isEvent && row.scope !== 'secret_read') return null;
    const changed = changedBy(pass, body);
    const announced = this.#options.audit.announce(origin.peer, {
      ...recordOf(pass, origin),
      ...(changed === '' ? {} : { changed }),
    });
    if (announced === null && needsAudit(pass, body)) throw new ApiError('E_AUDIT');
    return announced;
  }

  #fail(res: ServerResponse, error: unknown): void {
    const { code } = failureOf(error);
    (res as Answer)[ANNOUNCED]?.settle(ERRORS[code][0], code);
    if (!(error instanceof ApiError)) {
      this.#options.log.error(`request failed: ${messageOf(error)}`, {
        stack: error instanceof Error ? error.stack : undefined,
      });
    }
    if (res.headersSent) res.destroy();
    else if (!res.destroyed) {
      const { req } = res;
      sendFailure(res, failureOf(error), hasBody(req) && !req.complete ? { connection: 'close' } : {});
    }
  }
}

function recordOf(subject: Pass | Refusal, { ip }: Origin) {
  const { row, principal, rule } = subject;
  return {
    peer: ip,
    principal: principal.id,
    principal_kind: principal.kind,
    route: row === null ? null : `${row.method} ${row.path}`,
    rule,
    forced: subject.kind === 'pass' && subject.forced,
  };
}

function allowOrigin(res: ServerResponse, origin: string): void {
  res.setHeader('access-control-allow-origin', origin);
  res.setHeader('vary', 'Origin');
}

/** What the head alone says about the body: whether this route takes one, and whether it is too large. */
function checkAnnounced(req: IncomingMessage, row: Row): void {
  if (row.bodyKind === 'none') throw new ApiError('E_BAD_REQUEST', 'This route takes no request body.');
  const length = Number(req.headers['content-length'] ?? 0);
  const limit = row.limits.bodyBytes;
  if (length > limit) throw new ApiError('E_TOO_LARGE', `The body is larger than ${limit} bytes.`, { limit });
}

async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new ApiError('E_TIMEOUT', `No answer within ${timeoutMs} ms.`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function clientError(error: NodeJS.ErrnoException): ApiError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('E_HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('E_REQUEST_TIMEOUT');
    default:
      return new ApiError('E_BAD_REQUEST', 'The request is not well-formed HTTP.');
  }
}

function endWith(socket: Duplex, failure: Failure): void {
  socket.end(rawFailure(failure), () => socket.destroy());
}
