import type { RemoteInfo, Socket } from 'node:dgram';
import { plainAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { EndpointStatus } from '../../../shared/rpc/link-state.ts';
import type { Timer } from '../clock.ts';
import { Opening } from '../router/opening.ts';
import { SendWatch } from '../send-watch.ts';
import { type Endpoint, type EndpointTools, REBIND_MS } from './endpoint.ts';
import { longestSilent } from './longest-silent.ts';
import { RoutedPeer } from './routed-peer.ts';

/** A ground station that was silent for this long is gone (docs/contract/flight.md). */
const EXPIRE_MS = 12_000;
const LOOK_MS = 1000;
const MAX_PEERS = 64;

interface UdpEndpointOptions extends EndpointTools {
  readonly host: string;
  readonly port: number;
  /** A socket of node:dgram, for IPv4 or IPv6 as the host asks. */
  readonly createSocket: () => Socket;
}

/**
 * Ground stations that send to us over UDP. A sender becomes a peer with its first datagram that begins with a whole frame with a right
 * checksum, and expires after 12 s without a frame; where there is no room, whoever was silent for longest makes some. So strangers
 * who send anything else keep nobody out.
 */
export class UdpEndpoint implements Endpoint {
  readonly #options: UdpEndpointOptions;
  readonly #name: string;
  readonly #peers = new Map<string, { readonly key: string; readonly peer: RoutedPeer }>();
  readonly #opening: Opening;
  readonly #watch: SendWatch;
  #socket: Socket | null = null;
  #timer: Timer | null = null;
  #listening = false;
  #problem: string | null = null;
  #turnedAway = 0;
  #stopped = false;

  constructor(options: UdpEndpointOptions) {
    this.#options = options;
    this.#name = `udp:${options.host}:${options.port}`;
    this.#opening = new Opening(options.clock);
    this.#watch = new SendWatch(options.clock, (error) => {
      if (this.#listening) this.#fail(error);
    });
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
    const { host, port, createSocket, clock, log } = this.#options;
    const socket = createSocket();
    this.#socket = socket;
    socket.on('message', (bytes, from) => this.#receive(socket, bytes, from));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#listening && error.code === 'ECONNREFUSED') return; // one peer's port closed; it expires
      this.#fail(error);
    });
    socket.bind({ address: host, port }, () => {
      this.#listening = true;
      this.#problem = null;
      log.info(`ground stations: ${this.#name}`);
      this.#timer = clock.every(LOOK_MS, () => this.#expire());
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#close();
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      socket.close(() => resolve());
    });
  }

  #receive(socket: Socket, bytes: Buffer, from: RemoteInfo): void {
    const key = `${from.address}:${from.port}`;
    let known = this.#peers.get(key);
    if (known === undefined) {
      if (!this.#opening.isMavlink(bytes)) {
        this.#turnedAway++;
        return;
      }
      const silent = this.#peers.size < MAX_PEERS ? undefined : longestSilent(this.#peers.values());
      if (silent !== undefined) this.#part(silent.key, silent.peer, 'made room for another');
      known = { key, peer: this.#meet(socket, key, from) };
      this.#peers.set(key, known);
    }
    known.peer.push(bytes);
  }

  #meet(socket: Socket, key: string, { address, port }: RemoteInfo): RoutedPeer {
    const { clock, router, policy, log } = this.#options;
    const { done } = this.#watch;
    const sink = {
      host: plainAddress(address),
      get queuedBytes(): number {
        return socket.getSendQueueSize();
      },
      send(frame: Buffer): void {
        socket.send(frame, port, address, done);
      },
    };
    const peer = new RoutedPeer(key, clock, router, sink, policy);
    log.info(`ground station ${key} on ${this.#name}`);
    return peer;
  }

  #expire(): void {
    const now = this.#options.clock.now();
    for (const [key, { peer }] of this.#peers) {
      if (now - peer.heardAt >= EXPIRE_MS) this.#part(key, peer, 'gone');
    }
  }

  #part(key: string, peer: RoutedPeer, why: string): void {
    peer.detach();
    this.#peers.delete(key);
    this.#options.log.info(`ground station ${key} on ${this.#name}: ${why}`);
  }

  #fail(error: Error): void {
    const { log, clock } = this.#options;
    const problem = messageOf(error);
    if (problem !== this.#problem) log.warn(`${this.#name}: ${problem}`);
    this.#problem = problem;
    this.#close();
    this.#socket?.close();
    this.#socket = null;
    if (!this.#stopped) this.#timer = clock.after(REBIND_MS, () => this.start());
  }

  #close(): void {
    this.#listening = false;
    this.#timer?.cancel();
    for (const { peer } of this.#peers.values()) peer.detach();
    this.#peers.clear();
  }
}
