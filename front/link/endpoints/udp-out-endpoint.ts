import type { Socket } from 'node:dgram';
import { plainAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { EndpointStatus } from '../../../shared/rpc/link-state.ts';
import type { Timer } from '../clock.ts';
import { SendWatch } from '../send-watch.ts';
import { bindTowards, isBroadcast, tookAnotherPort } from '../udp-socket.ts';
import { type Endpoint, type EndpointTools, REBIND_MS } from './endpoint.ts';
import { RoutedPeer } from './routed-peer.ts';

interface UdpOutEndpointOptions extends EndpointTools {
  readonly host: string;
  readonly port: number;
  readonly createSocket: () => Socket;
}

/** One ground station that waits for us to send first, as QGroundControl does on UDP 14550. */
export class UdpOutEndpoint implements Endpoint {
  readonly #options: UdpOutEndpointOptions;
  readonly #name: string;
  #socket: Socket | null = null;
  #peer: RoutedPeer | null = null;
  #timer: Timer | null = null;
  #problem: string | null = null;
  #stopped = false;

  constructor(options: UdpOutEndpointOptions) {
    this.#options = options;
    this.#name = `udpout:${options.host}:${options.port}`;
  }

  get status(): EndpointStatus {
    const peer = this.#peer;
    return {
      name: this.#name,
      open: peer !== null,
      problem: this.#problem,
      peers_turned_away: 0,
      peers: peer === null ? [] : [peer.status],
    };
  }

  start(): void {
    const { host, port, createSocket } = this.#options;
    const socket = createSocket();
    this.#socket = socket;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#peer !== null && error.code === 'ECONNREFUSED') return; // nobody listens there yet
      if (this.#peer === null && tookAnotherPort(socket, error)) return;
      this.#fail(error);
    });
    socket.on('message', (bytes) => this.#peer?.push(bytes));
    bindTowards(socket, host, port, () => {
      if (this.#socket !== socket) return;
      if (isBroadcast(host)) {
        this.#open(socket, host, port, false);
        return;
      }
      // On a connected socket the kernel drops packets of other senders. Errors (no such name, no route) go to the callback.
      socket.connect(port, host, (error?: Error) => {
        if (this.#socket !== socket) return;
        if (error !== undefined) this.#fail(error);
        else this.#open(socket, socket.remoteAddress().address, port, true);
      });
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

  #open(socket: Socket, address: string, port: number, connected: boolean): void {
    const { clock, router, policy, log } = this.#options;
    const watch = new SendWatch(clock, (error) => {
      if (this.#socket === socket) this.#fail(error);
    });
    const sink = {
      host: plainAddress(address),
      get queuedBytes(): number {
        return socket.getSendQueueSize();
      },
      send(frame: Buffer): void {
        if (connected) socket.send(frame, watch.done);
        else socket.send(frame, port, address, watch.done);
      },
    };
    this.#problem = null;
    this.#peer = new RoutedPeer(`${address}:${port}`, clock, router, sink, policy);
    log.info(`ground station: ${this.#name}`);
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
    this.#timer?.cancel();
    this.#peer?.detach();
    this.#peer = null;
  }
}
