import type { Server, Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import type { EndpointStatus } from '../../../shared/rpc/link-state.ts';
import type { Timer } from '../clock.ts';
import { type Endpoint, type EndpointTools, REBIND_MS } from './endpoint.ts';
import { longestSilent } from './longest-silent.ts';
import { Newcomer } from './newcomer.ts';
import { RoutedPeer } from './routed-peer.ts';
import { StreamSink } from './stream-sink.ts';

const MAX_PEERS = 32;
/** Connections from which no whole frame has come yet, besides. */
const MAX_NEWCOMERS = 32;
/** A connection without a whole frame for so long is none of a ground station, ms (docs/contract/flight.md). */
const SILENT_MS = 10_000;
const LOOK_MS = 1000;
const KEEPALIVE_MS = 5000;
/** A peer that accepts no data for this long is considered gone. */
const STUCK_MS = 30_000;

interface TcpEndpointOptions extends EndpointTools {
  readonly host: string;
  readonly port: number;
  /** `createServer` of node:net */
  readonly createServer: () => Server;
}

interface Connected {
  readonly socket: Socket;
  readonly peer: RoutedPeer;
  readonly since: number;
}

/**
 * Ground stations that connect to us over TCP. A connection hears the vehicle at once, and counts as a ground station's with its
 * first whole frame; without one it ends after 10 s. Where there is no room, whoever was silent for longest makes some.
 */
export class TcpEndpoint implements Endpoint {
  readonly #options: TcpEndpointOptions;
  readonly #name: string;
  readonly #peers = new Map<Socket, Connected>();
  #look: Timer | null = null;
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
      peers: [...this.#peers.values()].map(({ peer }) => peer.status),
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
      this.#look = this.#options.clock.every(LOOK_MS, () => this.#endSilent());
      log.info(`ground stations: ${this.#name}`);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#look?.cancel();
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
    this.#makeRoom(false, MAX_NEWCOMERS);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEPALIVE_MS);
    const peer = new RoutedPeer(name, clock, router, new StreamSink(socket), policy);
    this.#peers.set(socket, { socket, peer, since: clock.now() });
    log.info(`ground station ${name} on ${this.#name}`);
    socket.setTimeout(STUCK_MS, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
    const newcomer = new Newcomer(peer);
    socket.on('data', (chunk: Buffer) => {
      const { verified } = peer;
      const speaks = newcomer.push(chunk);
      if (!verified && peer.verified) this.#makeRoom(true, MAX_PEERS + 1);
      if (speaks === null) return;
      this.#turnedAway++;
      log.warn(`${name} on ${this.#name} does not speak MAVLink (${speaks}): dropped`);
      socket.destroy();
    });
    socket.on('error', (error) => log.debug(`${this.#name}: ${messageOf(error)}`)); // 'close' follows
    socket.on('close', () => {
      if (!this.#peers.delete(socket)) return;
      peer.detach();
      log.info(`ground station ${name} on ${this.#name}: gone`);
    });
  }

  /** Leaves fewer than `limit` of one kind: those of which a whole frame has come, or the others. */
  #makeRoom(verified: boolean, limit: number): void {
    const alike = [...this.#peers.values()].filter(({ peer }) => peer.verified === verified);
    if (alike.length < limit) return;
    const silent = longestSilent(alike);
    if (silent !== undefined) this.#turnAway(silent, 'made room for another');
  }

  #endSilent(): void {
    const now = this.#options.clock.now();
    for (const each of this.#peers.values())
      if (!each.peer.verified && now - each.since >= SILENT_MS) this.#turnAway(each, 'sends no MAVLink');
  }

  #turnAway({ socket, peer }: Connected, why: string): void {
    this.#turnedAway++;
    this.#options.log.info(`${peer.status.name} on ${this.#name}: ${why}`);
    // At once, so that it does not count any more; its 'close' comes later.
    peer.detach();
    this.#peers.delete(socket);
    socket.destroy();
  }

  #fail(error: Error): void {
    const { log, clock } = this.#options;
    const problem = messageOf(error);
    if (problem !== this.#problem) log.warn(`${this.#name}: ${problem}`);
    this.#problem = problem;
    this.#listening = false;
    this.#look?.cancel();
    this.#server?.close();
    this.#server = null;
    if (!this.#stopped) this.#timer = clock.after(REBIND_MS, () => this.start());
  }
}
