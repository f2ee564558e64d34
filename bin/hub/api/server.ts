import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Server as NetServer } from 'node:net';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import { type HandshakeLimits, Handshakes } from '../../../shared/http/edge/handshakes.ts';
import { addressList } from '../../../shared/http/edge/proxy-header.ts';
import { doorOf, edgeServer, TLS } from '../../../shared/http/edge/server.ts';
import { UnreadAnswers } from '../../../shared/http/edge/unread.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { KeyPair } from '../keys/certificates.ts';
import { Entrance, type Entry } from './entrance.ts';

/** Of one listener. */
const MAX_CONNECTIONS = 2000;
const BODY_MS = 20_000;
/** The last piece of an answer is 64 KiB. */
const STUCK_MS = 20_000;
/** A server's processor does a thousand a second; all of a replica that is gone come at once. */
const HANDSHAKES: HandshakeLimits = {
  peer: { perSecond: 20, burst: 100 },
  all: { perSecond: 200, burst: 400 },
  openPeer: 64,
  open: 512,
};
const DRAIN_MS = 3000;

export interface Listen {
  readonly host: string;
  readonly port: number;
  /** Addresses and networks. */
  readonly balancers: readonly string[];
}

export type HubListener = (req: IncomingMessage, res: ServerResponse, entry: Entry) => void;

interface HubServerOptions {
  readonly serve: HubListener;
  readonly identity: KeyPair;
  readonly places: { readonly http: Listen; readonly https: Listen };
  /** ms */
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** The hub's two listeners: plain HTTP for this machine, HTTPS with a certificate of the fleet's own CA for all others. */
export class HubServer {
  readonly #places: HubServerOptions['places'];
  readonly #unread: UnreadAnswers;
  readonly #handshakes: Handshakes;
  readonly #plain: { readonly server: Server; readonly door: NetServer };
  readonly #tls: { readonly server: TlsServer; readonly door: NetServer };

  constructor({ serve, identity, places, monotonic, log }: HubServerOptions) {
    this.#places = places;
    this.#unread = new UnreadAnswers(STUCK_MS, monotonic);
    this.#handshakes = new Handshakes(HANDSHAKES, monotonic);
    const common = { maxConnections: MAX_CONNECTIONS, log };
    const plain = new Entrance({
      ...common,
      balancers: addressList(places.http.balancers),
      handshakes: null,
      forThisMachine: true,
    });
    const tls = new Entrance({
      ...common,
      balancers: addressList(places.https.balancers),
      handshakes: this.#handshakes,
      forThisMachine: false,
    });
    const made = <S extends Server | TlsServer>(
      entrance: Entrance,
      create: Parameters<typeof edgeServer<S>>[0]['create'],
    ): { readonly server: S; readonly door: NetServer } => {
      const server = edgeServer({
        create,
        serve: (req, res) => {
          const entry = entrance.of(req.socket);
          if (entry === null) {
            req.socket.destroy();
            return;
          }
          this.#unread.watch(res, entry.cut);
          serve(req, res, entry);
        },
        bodyMs: BODY_MS,
        maxConnections: MAX_CONNECTIONS,
        upgrade: null,
      });
      return { server, door: doorOf(server, (socket, go) => entrance.admit(socket, go)) };
    };
    this.#plain = made(plain, createServer);
    this.#plain.server.prependListener('connection', (socket) => plain.know(socket));
    this.#tls = made(tls, (options, listener) =>
      createTlsServer({ ...options, ...TLS, cert: identity.certificate, key: identity.key }, listener),
    );
    this.#tls.server.prependListener('secureConnection', (socket) => {
      this.#handshakes.done(socket);
      tls.know(socket);
    });
    this.#tls.server.on('tlsClientError', (error, socket) => {
      log.debug(`HTTPS: handshake: ${error.message}`);
      socket.destroy();
    });
  }

  /** @throws Error with a sentence: the port is taken, no such address */
  async start(): Promise<void> {
    this.#unread.start();
    await listen(this.#plain.door, this.#places.http);
    await listen(this.#tls.door, this.#places.https);
  }

  async stop(): Promise<void> {
    const closed = [close(this.#plain), close(this.#tls)];
    this.#handshakes.end();
    await Promise.all(closed);
    this.#unread.stop();
  }

  /** For new connections. */
  renew({ certificate, key }: KeyPair): void {
    this.#tls.server.setSecureContext({ ...TLS, cert: certificate, key });
  }
}

async function listen(door: NetServer, { host, port }: Listen): Promise<void> {
  door.listen(port, host);
  try {
    await once(door, 'listening');
  } catch (error) {
    throw new Error(`cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

/** Answers that are under way may end. */
async function close({
  server,
  door,
}: {
  readonly server: Server | TlsServer;
  readonly door: NetServer;
}): Promise<void> {
  if (!door.listening) return;
  const closed = once(door, 'close');
  door.close();
  server.closeIdleConnections();
  await within(closed, DRAIN_MS, () => new Error('late')).catch(() => server.closeAllConnections());
}
