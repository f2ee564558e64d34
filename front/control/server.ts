import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Server as NetServer } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls';
import { classifyAddress, peerKey, plainAddress } from '../../shared/auth/address.ts';
import { Handshakes } from '../../shared/http/edge/handshakes.ts';
import { doorOf, edgeServer, SERVER_LIMITS, TLS } from '../../shared/http/edge/server.ts';
import { UnreadAnswers } from '../../shared/http/edge/unread.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { type AppParts, createApp } from './app.ts';
import type { FleetCredential } from './edge/decision.ts';
import { acceptUpgrade, type UpgradeParts } from './sockets/upgrade.ts';
import type { TlsDoor } from './tls/node-tls.ts';

/** A handshake costs 5 ms on a Pi Zero 2 W; a browser opens six connections, and keeps them. */
const HANDSHAKES = {
  peer: { perSecond: 10, burst: 40 },
  all: { perSecond: 40, burst: 120 },
  openPeer: 12,
  open: 64,
} as const;

/** An answer of which nothing is taken for so long is ended: a player that pauses asks for the rest again. */
const STUCK_MS = 60_000;

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
  readonly #handshakes = new Handshakes(HANDSHAKES, () => performance.now());
  readonly #unread = new UnreadAnswers(STUCK_MS, () => performance.now());
  #fleet: Server | null = null;
  #draining = false;
  #port = 0;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#fast = createApp(options);
    this.#unread.start();
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
    this.#endUnread(server);
    server.on('secureConnection', (socket) => {
      this.#handshakes.done(socket);
      this.#options.origins.admit(socket, 'tls');
    });
    server.on('tlsClientError', (error: Error, socket) => {
      this.#options.log.debug(`HTTPS: handshake: ${error.message}`);
      socket.destroy();
    });
    // Node's own server would begin each handshake at once.
    const door = doorOf(server, (socket, go) => {
      const near = { local: undefined, isRoutable: () => true };
      const isHere = classifyAddress(socket.remoteAddress, near) === 'loopback';
      this.#handshakes.admit(socket, peerKey(plainAddress(socket.remoteAddress ?? '')), isHere, go);
    });
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
    if (kind === 'tcp') this.#endUnread(server); // a shell of this machine may hold a log for as long as it likes
    return server;
  }

  #endUnread(server: Server | TlsServer): void {
    const watch: RequestListener = (_req, res) => this.#unread.watch(res, () => res.destroy());
    server.prependListener('request', watch).prependListener('checkContinue', watch);
  }

  #create<S extends Server | TlsServer>(create: (options: ServerOptions, serve: RequestListener) => S): S {
    const { app, options } = this.#fast;
    const serve: RequestListener = (req, res) => {
      if (this.#draining) res.setHeader('connection', 'close');
      app(req, res);
    };
    const server = edgeServer({
      create: (limits, listener) => create({ ...options, ...limits }, listener),
      serve,
      bodyMs: this.#options.longestBodyMs,
      maxConnections: SERVER_LIMITS.maxConnections,
      upgrade: (req, socket, head) => acceptUpgrade(this.#options, req, socket, head, this.#draining),
    });
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
    this.#unread.stop();
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
