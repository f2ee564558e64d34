import { constants } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { ApiError } from '../../errors.ts';
import { type Failure, failureOf, rawFailure, sendFailure } from '../answer.ts';

/** Explicit bounds of an HTTP server; Node's own defaults are mostly longer or absent. */
export const SERVER_LIMITS = {
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 15_000,
  connectionsCheckMs: 1000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  maxConnections: 1024,
  maxRequestsPerSocket: 100_000,
} as const;

/** TLS 1.2 with forward secrecy and authenticated encryption, and 1.3; no renegotiation, HTTP/1.1 alone. */
export const TLS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
  ].join(':'),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  ALPNProtocols: ['http/1.1'],
  handshakeTimeout: 10_000,
} as const satisfies TlsOptions;

interface EdgeServerOptions<S extends Server | TlsServer> {
  readonly create: (options: ServerOptions, serve: RequestListener) => S;
  readonly serve: RequestListener;
  /** The longest that the body of a request may take, ms. */
  readonly bodyMs: number;
  readonly maxConnections: number;
  /** Of WebSockets; null where there are none: whoever offers one is answered normally. */
  readonly upgrade: ((req: IncomingMessage, socket: Duplex, head: Buffer) => void) | null;
}

/** A server with every bound, whose refusals are JSON, and which leaves all decisions to those behind it. */
export function edgeServer<S extends Server | TlsServer>(options: EdgeServerOptions<S>): S {
  const { create, serve, bodyMs, maxConnections, upgrade } = options;
  const server = create(
    {
      maxHeaderSize: SERVER_LIMITS.maxHeaderBytes,
      connectionsCheckingInterval: SERVER_LIMITS.connectionsCheckMs,
      headersTimeout: SERVER_LIMITS.headersTimeoutMs,
      requestTimeout: bodyMs + SERVER_LIMITS.headersTimeoutMs,
      keepAliveTimeout: SERVER_LIMITS.keepAliveTimeoutMs,
      requireHostHeader: false, // asked for behind it, and answered in JSON
      insecureHTTPParser: false,
      // Another upgrade that a client offers (h2c) is optional, so the request is answered normally.
      shouldUpgradeCallback: (req) => upgrade !== null && req.headers.upgrade?.toLowerCase() === 'websocket',
    },
    serve,
  );
  server.maxHeadersCount = SERVER_LIMITS.maxHeaders;
  server.maxConnections = maxConnections;
  server.maxRequestsPerSocket = SERVER_LIMITS.maxRequestsPerSocket;
  // Without this listener node always answers "100 Continue"; the body must wait for the decision.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (_req, res) =>
    sendFailure(res, failureOf(new ApiError('E_BAD_REQUEST', 'Unknown Expect header.'))),
  );
  if (upgrade !== null) server.on('upgrade', upgrade);
  server.on('connect', (_req, socket) => endWith(socket, failureOf(new ApiError('E_METHOD'))));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    endWith(socket, failureOf(clientError(error))),
  );
  return server;
}

/**
 * Where connections come in before the server, which gets those that are let in.
 * @param admit calls `go` when the server may have the connection, or destroys it
 */
export function doorOf(
  server: Server | TlsServer,
  admit: (socket: Socket, go: () => void) => void,
): NetServer {
  // Node looks for requests that never come to their end, and knows what is idle, only in a server that listens.
  server.emit('listening');
  const door = createNetServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy()); // reset before its turn
    admit(socket, () => server.emit('connection', socket));
  });
  door.maxConnections = server.maxConnections;
  return door;
}

/** Answers on a connection without a response object, and closes it. */
export function endWith(socket: Duplex, failure: Failure): void {
  if (socket.destroyed || !socket.writable) return;
  socket.end(rawFailure(failure), () => socket.destroy());
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
