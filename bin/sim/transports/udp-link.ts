import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { FrameReader } from '../mavlink/wire.ts';
import type { ClientEvents, LinkAddress, SimLink } from './sim-link.ts';

/** `out` sends to an address from the start and hears only it, as SITL's UDP client; `in` answers whoever spoke last. */
export interface UdpOptions {
  readonly direction: 'in' | 'out';
  readonly host: string;
  readonly port: number;
}

/** One datagram per frame. */
export class UdpLink implements SimLink {
  readonly #log: Logger;
  readonly #options: UdpOptions;
  readonly #events: ClientEvents;
  readonly #socket: Socket;
  #peer: RemoteInfo | undefined;

  constructor(log: Logger, options: UdpOptions, events: ClientEvents) {
    this.#log = log;
    this.#options = options;
    this.#events = events;
    this.#socket = createSocket(isIPv6(options.host) ? 'udp6' : 'udp4');
  }

  async start(): Promise<LinkAddress> {
    const { direction, host, port } = this.#options;
    const reader = new FrameReader();
    this.#socket.on('message', (bytes, from) => {
      for (const frame of reader.push(bytes, performance.now())) {
        if (direction === 'in') this.#hear(from);
        this.#events.received(frame);
      }
    });
    if (direction === 'in') this.#socket.bind(port, host);
    else this.#socket.connect(port, host);
    await once(this.#socket, direction === 'in' ? 'listening' : 'connect');
    // Nobody is there yet, or no longer: the next datagram tries again.
    this.#socket.on('error', (error) => this.#log.debug(`udp: ${messageOf(error)}`));
    if (direction === 'out') this.#events.connected((bytes) => this.#socket.send(bytes, () => undefined));
    const local = this.#socket.address();
    const text = direction === 'in' ? `udpin:${local.address}:${local.port}` : `udpout:${host}:${port}`;
    return { host: local.address, port: local.port, text };
  }

  hangUp(): void {
    // Datagrams have no connection that could end.
  }

  async stop(): Promise<void> {
    this.#events.connected(undefined);
    await new Promise<void>((resolve) => {
      this.#socket.close(() => resolve());
    });
  }

  #hear(from: RemoteInfo): void {
    const known = this.#peer;
    if (known?.address === from.address && known.port === from.port) return;
    this.#peer = from;
    this.#log.info(`client at ${from.address}:${from.port}`);
    this.#events.connected((bytes) => this.#socket.send(bytes, from.port, from.address, () => undefined));
  }
}
