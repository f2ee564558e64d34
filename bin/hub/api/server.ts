import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { KeyPair } from '../authority/certificates.ts';

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
} as const satisfies ServerOptions;
const MAX_CONNECTIONS = 2000;
const DRAIN_MS = 3000;

export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** The hub's two listeners: plain HTTP for this machine, HTTPS with a certificate of the fleet's own CA for all others. */
export class HubServer {
  readonly #plain: Server;
  readonly #tls: TlsServer;
  readonly #places: { readonly http: Listen; readonly https: Listen };

  constructor(
    handler: RequestListener,
    identity: KeyPair,
    places: { readonly http: Listen; readonly https: Listen },
  ) {
    this.#places = places;
    this.#plain = createServer(LIMITS, handler);
    this.#tls = createTlsServer(
      {
        ...LIMITS,
        cert: identity.certificate,
        key: identity.key,
        minVersion: 'TLSv1.2',
        handshakeTimeout: 10_000,
      },
      handler,
    );
    for (const server of [this.#plain, this.#tls]) server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws Error with a sentence: the port is taken, no such address */
  async start(): Promise<void> {
    await listen(this.#plain, this.#places.http);
    await listen(this.#tls, this.#places.https);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#plain, this.#tls].map(close));
  }

  /** For new connections. */
  renew({ certificate, key }: KeyPair): void {
    this.#tls.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  }
}

async function listen(server: Server | TlsServer, { host, port }: Listen): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

/** Answers that are under way may end. */
async function close(server: Server | TlsServer): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await within(closed, DRAIN_MS, () => new Error('late')).catch(() => server.closeAllConnections());
}
