import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const LOOPBACK = '127.0.0.1';
const BUFFER_BYTES = 4 * 1024 * 1024;
const MAX_QUEUED_BYTES = 1024 * 1024;

interface LocalPortOptions {
  /** 0: any port. */
  readonly listen: number;
  /** Where packets go; null: to whoever sent last. */
  readonly to: number | null;
  /** Its own address and the other one's; loopback unless given. */
  readonly host?: string;
  readonly toHost?: string;
  readonly onPacket: (packet: Buffer) => void;
}

/** A UDP port, at which packets come from and go to the node, or the other end. */
export class LocalPort {
  readonly #options: LocalPortOptions;
  #socket: Socket | null = null;
  #to: number | null;

  constructor(options: LocalPortOptions) {
    this.#options = options;
    this.#to = options.to;
  }

  async start(): Promise<void> {
    const { listen, to, host = LOOPBACK, onPacket } = this.#options;
    const socket = createSocket({
      type: 'udp4',
      recvBufferSize: BUFFER_BYTES,
      // Not the system's resolver for every packet.
      lookup: (address, _options, done) => process.nextTick(done, null, address, 4),
    });
    this.#socket = socket;
    socket.on('message', (packet, from) => {
      if (to === null) this.#to = from.port;
      onPacket(packet);
    });
    socket.bind(listen, host);
    await once(socket, 'listening');
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) await new Promise<void>((resolve) => socket.close(() => resolve()));
  }

  /**
   * Sends a packet; while nobody is known or too much waits it is dropped.
   * @param sent called with whether it was sent
   */
  send(packet: Buffer, sent?: (ok: boolean) => void): boolean {
    if (this.#socket === null || this.#to === null || this.#socket.getSendQueueSize() > MAX_QUEUED_BYTES)
      return false;
    // A peer that does not listen is not an error of UDP.
    this.#socket.send(packet, this.#to, this.#options.toHost ?? LOOPBACK, (error) => sent?.(error === null));
    return true;
  }
}
