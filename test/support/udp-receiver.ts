import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** A UDP port that keeps what comes. */
export class UdpReceiver implements AsyncDisposable {
  readonly datagrams: Buffer[] = [];
  readonly #socket: Socket;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram) => {
      this.datagrams.push(datagram);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  static async open(port = 0): Promise<UdpReceiver> {
    // A key frame comes as a burst.
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return new UdpReceiver(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Resolves when what came so far is enough. */
  async until(enough: (datagrams: readonly Buffer[]) => boolean): Promise<readonly Buffer[]> {
    while (!enough(this.datagrams)) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.datagrams;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.close(() => resolve());
    });
  }
}
