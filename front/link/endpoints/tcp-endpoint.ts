import type { Server, Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import type { EndpointStatus } from '../../../shared/rpc/link.ts';
import type { Timer } from '../clock.ts';
import { type Endpoint, type EndpointTools, REBIND_MS } from './endpoint.ts';
import { Newcomer } from './newcomer.ts';
import { RoutedPeer } from './routed-peer.ts';
import { StreamSink } from './stream-sink.ts';

const MAX_PEERS = 32;
const KEEPALIVE_MS = 5000;
/** A peer that accepts no data for this long is considered gone. */
const STUCK_MS = 30_000;

export interface TcpEndpointOptions extends EndpointTools {
  readonly host: string;
  readonly port: number;
  /** `createServer` of node:net */
  readonly createServer: () => Server;
}

/** Ground stations that connect to us over TCP. */
export class TcpEndpoint implements Endpoint {
  readonly #options: TcpEndpointOptions;
  readonly #name: string;
  readonly #peers = new Map<Socket, RoutedPeer>();
  #server: Server | null = null;
  #timer: Timer | null = null;
  #listening = false;
  #problem: string | null = null;
  #turnedAway = 0;
  #stopped = false;

  constructor(options: TcpEndpointOptions) {
    this.#options = options;
    this.#name = `tcp:${options.host}:${options.port}`;
  }

  get status(): EndpointStatus {
    return {
      name: this.#name,
      open: this.#listening,
      problem: this.#problem,
      peers_turned_away: this.#turnedAway,
      peers: [...this.#peers.values()].map(({ status }) => status),
    };
  }

  start(): void {
    const { host, port, createServer, log } = this.#options;
    const server = createServer();
    this.#server = server;
    server.on('error', (error) => this.#fail(error));
    server.on('connection', (socket: Socket) => this.#accept(socket));
    server.listen({ host, port }, () => {
      this.#listening = true;
      this.#problem = null;
      log.info(`ground stations: ${this.#name}`);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#peers.keys()) socket.destroy();
    if (server?.listening !== true) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    const { clock, router, policy, log } = this.#options;
    const name = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`;
    if (this.#peers.size >= MAX_PEERS) {
      this.#turnedAway++;
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEPALIVE_MS);
    const peer = new RoutedPeer(name, clock, router, new StreamSink(socket), policy);
    this.#peers.set(socket, peer);
    log.info(`ground station ${name} on ${this.#name}`);
    socket.setTimeout(STUCK_MS, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
    const newcomer = new Newcomer(peer);
    socket.on('data', (chunk: Buffer) => {
      const speaks = newcomer.push(chunk);
      if (speaks === null) return;
      this.#turnedAway++;
      log.warn(`${name} on ${this.#name} does not speak MAVLink (${speaks}): dropped`);
      socket.destroy();
    });
    socket.on('error', (error) => log.debug(`${this.#name}: ${messageOf(error)}`)); // 'close' follows
    socket.on('close', () => {
      peer.detach();
      this.#peers.delete(socket);
      log.info(`ground station ${name} on ${this.#name}: gone`);
    });
  }

  #fail(error: Error): void {
    const { log, clock } = this.#options;
    const problem = messageOf(error);
    if (problem !== this.#problem) log.warn(`${this.#name}: ${problem}`);
    this.#problem = problem;
    this.#listening = false;
    this.#server?.close();
    this.#server = null;
    if (!this.#stopped) this.#timer = clock.after(REBIND_MS, () => this.start());
  }
}
