import type { Server } from 'node:https';
import { networkInterfaces } from 'node:os';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { BoundRadios } from './bound-radios.ts';
import { groundOn, relayServerOptions } from './tls.ts';

/** How soon the listener is there once the tunnel is. */
const RETRY_MS = 1000;
/** A ground station asks every 2 s; without a request for so long the radio is gone, and what is open would hang. */
const LOST_MS = 15_000;
const MAX_CONNECTIONS = 128;

interface RelayListenerOptions {
  /** The address of this drone in the tunnel; it may come and go with the radio. */
  readonly host: () => string;
  readonly port: number;
  readonly radios: BoundRadios;
  /** Makes the front's server for a connection whose ground station is known. */
  readonly createServer: (tls: TlsOptions, admit: (socket: TLSSocket) => string | null) => Server;
  /** Called with each request of a ground station, authenticated by the present key. */
  readonly onAsked: (ground: string) => void;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface Open {
  readonly ground: string;
  readonly secret: Buffer;
}

/** A drone's side of the relay: listens on the tunnel's address alone, while a radio is bound. */
export class RelayListener {
  readonly #options: RelayListenerOptions;
  readonly #open = new Map<TLSSocket, Open>();
  readonly #askedAt = new Map<string, number>();
  #server: Server | null = null;
  #timer: NodeJS.Timeout | null = null;
  #forget: (() => void) | null = null;
  #said = '';

  constructor(options: RelayListenerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#forget = this.#options.radios.onChange(() => this.#tick());
    this.#timer = every(RETRY_MS, 'relay listener', () => this.#tick());
    this.#tick();
  }

  /** Since a ground station asked something, ms; null if none has. */
  get silentMs(): number | null {
    const newest = Math.max(...this.#askedAt.values());
    return newest === -Infinity ? null : this.#options.now() - newest;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#forget?.();
    this.#close();
  }

  #tick(): void {
    const { radios } = this.#options;
    this.#cut();
    if (radios.list().length === 0) this.#close();
    else if (this.#server === null && this.#hasTunnel()) this.#listen();
  }

  /** Whether the tunnel's address is there now. */
  #hasTunnel(): boolean {
    const host = this.#options.host();
    // Every address of 127/8 is there, though the system lists only one.
    if (host.startsWith('127.')) return true;
    return Object.values(networkInterfaces()).some((found = []) =>
      found.some(({ address }) => address === host),
    );
  }

  #listen(): void {
    const { port, radios, createServer, log } = this.#options;
    const host = this.#options.host();
    const server = createServer(
      relayServerOptions((ground) => radios.relaySecret(ground)),
      (socket) => this.#admit(socket),
    );
    const asked = ({ socket }: { readonly socket: unknown }): void => {
      const open = this.#open.get(socket as TLSSocket);
      if (open === undefined) return;
      this.#askedAt.set(open.ground, this.#options.now());
      this.#options.onAsked(open.ground);
    };
    server.prependListener('request', asked).prependListener('upgrade', asked);
    server.maxConnections = MAX_CONNECTIONS;
    server.on('error', (error) => {
      if (this.#server === server) this.#server = null;
      const words = `cannot listen on ${host}:${port}: ${messageOf(error)}`;
      if (words !== this.#said) log.error(`relay: ${words}`);
      this.#said = words;
    });
    server.on('tlsClientError', (error, socket) =>
      log.warn(`relay: a peer was refused (${messageOf(error).split(':').at(-3) ?? ''})`, {
        peer: socket.remoteAddress,
      }),
    );
    this.#server = server;
    server.listen({ host, port }, () => {
      this.#said = '';
      log.info(`relay: listening on ${host}:${port}`);
    });
  }

  /** @returns the ground station, null for a connection that is closed */
  #admit(socket: TLSSocket): string | null {
    const ground = groundOn(socket);
    const secret = ground === null ? null : this.#options.radios.relaySecret(ground);
    if (ground === null || secret === null) {
      socket.destroy();
      return null;
    }
    this.#open.set(socket, { ground, secret });
    this.#askedAt.set(ground, this.#options.now());
    socket.once('close', () => this.#open.delete(socket));
    return ground;
  }

  /** Ends the connections of ground stations that are no longer bound by the same key, or are out of reach. */
  #cut(): void {
    const { radios, now } = this.#options;
    for (const [socket, { ground, secret }] of this.#open) {
      const bound = radios.relaySecret(ground)?.equals(secret) === true;
      const lost = now() - (this.#askedAt.get(ground) ?? 0) > LOST_MS;
      if (!bound || lost) socket.destroy();
    }
  }

  #close(): void {
    for (const socket of this.#open.keys()) socket.destroy();
    this.#server?.close();
    this.#server = null;
  }
}
