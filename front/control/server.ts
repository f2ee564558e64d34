import { constants } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { createServer as createNetServer, type Server as NetServer } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls';
import { ApiError } from '../../shared/errors.ts';
import { failureOf, sendFailure } from '../../shared/http/answer.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { type AppParts, createApp } from './app.ts';
import type { FleetCredential } from './edge/decision.ts';
import { acceptUpgrade, endWith, type UpgradeParts } from './sockets/upgrade.ts';
import { Handshakes } from './tls/handshakes.ts';
import type { TlsDoor } from './tls/node-tls.ts';

/** Explicit bounds of the HTTP server; Node's own defaults are mostly longer or absent. */
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
const TLS = {
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

interface FrontOptions extends AppParts, UpgradeParts {
  /** The longest body time-out of all rows, ms. `body` enforces the time-out of each row. */
  readonly longestBodyMs: number;
  readonly drainMs: number;
}

/** The listeners of the front (TCP, control.sock): one Express application behind any number of HTTP servers. */
export class FrontServer {
  readonly #options: FrontOptions;
  readonly #fast: ReturnType<typeof createApp>;
  readonly #servers: (Server | TlsServer)[] = [];
  /** Where TLS connections come in, before their handshakes. */
  readonly #doors: NetServer[] = [];
  readonly #handshakes = new Handshakes(() => performance.now());
  #fleet: Server | null = null;
  #draining = false;
  #port = 0;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#fast = createApp(options);
  }

  /** The TCP port that it listens on. */
  get port(): number {
    return this.#port;
  }

  /** @throws Error with a sentence: the port is taken, no such address */
  async listenTcp(host: string, port: number): Promise<void> {
    this.#port = await listenTcp(this.#createServer('tcp'), host, port, 'api.port');
  }

  /**
   * The same edge by TLS 1.2 and 1.3.
   * @param context certificate and key, PEM
   * @throws Error with a sentence: the port is taken, no such address
   */
  async listenTls(host: string, port: number, context: SecureContextOptions): Promise<TlsDoor> {
    const server = this.#create((options, serve) =>
      createTlsServer({ ...options, ...TLS, ...context }, serve),
    );
    server.on('secureConnection', (socket) => {
      this.#handshakes.done(socket);
      this.#options.origins.admit(socket, 'tls');
    });
    server.on('tlsClientError', (error: Error, socket) => {
      this.#options.log.debug(`HTTPS: handshake: ${error.message}`);
      socket.destroy();
    });
    // Node's own server would begin each handshake at once.
    const door = createNetServer({ noDelay: true }, (socket) => {
      socket.on('error', () => socket.destroy()); // reset before its turn
      this.#handshakes.admit(socket, () => server.emit('connection', socket));
    });
    door.maxConnections = SERVER_LIMITS.maxConnections;
    const actual = await listenTcp(door, host, port, 'api.tls_port');
    this.#doors.push(door);
    return { port: actual, setSecureContext: (next) => server.setSecureContext({ ...TLS, ...next }) };
  }

  /** @throws Error as listenUnix of shared/rpc */
  async listenUnix(path: string): Promise<void> {
    await listenUnix(this.#createServer('unix'), path);
  }

  /**
   * A server for the ground station's relay, which does not listen yet.
   * @param admit says which ground station has proved itself on a connection, null for none: it is closed then
   */
  relayServer(tls: TlsOptions, admit: (socket: TLSSocket) => string | null): TlsServer {
    const server = this.#create((options, serve) => createTlsServer({ ...options, ...tls }, serve));
    server.on('secureConnection', (socket) => {
      const ground = admit(socket);
      if (ground !== null) this.#options.origins.admitRelay(socket, ground);
    });
    return server;
  }

  /** The other end of a connection that never leaves this process, for one call of the fleet. */
  fleetConnection(caller: string, credential: FleetCredential): Duplex {
    this.#fleet ??= this.#create(createServer);
    const [inner, outer] = duplexPair();
    this.#options.origins.admitFleet(inner, caller, credential);
    this.#fleet.emit('connection', inner);
    return outer;
  }

  /** @param kind `unix` for control.sock */
  #createServer(kind: 'tcp' | 'unix'): Server {
    const server = this.#create(createServer);
    server.on('connection', (socket) => this.#options.origins.admit(socket, kind));
    return server;
  }

  #create<S extends Server | TlsServer>(create: (options: ServerOptions, serve: RequestListener) => S): S {
    const { app, options } = this.#fast;
    const serve: RequestListener = (req, res) => {
      if (this.#draining) res.setHeader('connection', 'close');
      app(req, res);
    };
    const server = create(
      {
        ...options,
        maxHeaderSize: SERVER_LIMITS.maxHeaderBytes,
        connectionsCheckingInterval: SERVER_LIMITS.connectionsCheckMs,
        headersTimeout: SERVER_LIMITS.headersTimeoutMs,
        requestTimeout: this.#options.longestBodyMs + SERVER_LIMITS.headersTimeoutMs,
        keepAliveTimeout: SERVER_LIMITS.keepAliveTimeoutMs,
        requireHostHeader: false, // decide() asks for it, and answers in JSON
        insecureHTTPParser: false,
        // Another upgrade that a client offers (h2c) is optional, so the request is answered normally.
        shouldUpgradeCallback: (req) => req.headers.upgrade?.toLowerCase() === 'websocket',
      },
      serve,
    );
    server.maxHeadersCount = SERVER_LIMITS.maxHeaders;
    server.maxConnections = SERVER_LIMITS.maxConnections;
    server.maxRequestsPerSocket = SERVER_LIMITS.maxRequestsPerSocket;
    // Without this listener node always answers "100 Continue"; the body must wait for the decision.
    server.on('checkContinue', serve);
    server.on('checkExpectation', (_req, res) =>
      sendFailure(res, failureOf(new ApiError('E_BAD_REQUEST', 'Unknown Expect header.'))),
    );
    server.on('upgrade', (req, socket, head) =>
      acceptUpgrade(this.#options, req, socket, head, this.#draining),
    );
    server.on('connect', (_req, socket) => endWith(socket, failureOf(new ApiError('E_METHOD'))));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      endWith(socket, failureOf(clientError(error))),
    );
    this.#servers.push(server);
    return server;
  }

  /** Stops accepting, lets requests in flight finish for at most `drainMs`, then closes the rest. */
  async stop(): Promise<void> {
    this.#draining = true;
    const listening = [...this.#servers.filter((server) => server.listening), ...this.#doors];
    const closed = listening.map(
      async (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    // Those behind a door do not listen themselves, so that nobody has closed what is idle.
    for (const server of this.#servers) server.closeIdleConnections();
    this.#handshakes.end();
    const cut = setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections();
    }, this.#options.drainMs);
    await Promise.all(closed);
    clearTimeout(cut);
  }
}

/** @param key of the config, that names the port */
async function listenTcp(server: NetServer, host: string, port: number, key: string): Promise<number> {
  let error = await tryListen(server, host, port);
  // A kernel without IPv6 has no `::`.
  if (error?.code === 'EAFNOSUPPORT' && host === '::') error = await tryListen(server, '0.0.0.0', port);
  if (error?.code === 'EADDRINUSE')
    throw new Error(`port ${port} is in use by another program (EADDRINUSE). Stop it, or set ${key}.`);
  if (error !== null) throw new Error(`cannot listen on ${host}:${port}: ${error.message}`);
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function tryListen(
  server: NetServer,
  host: string,
  port: number,
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ host, port, ipv6Only: false }, () => {
      server.off('error', resolve);
      resolve(null);
    });
  });
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
