import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { FrameReader } from '../mavlink/wire.ts';
import type { ClientEvents, LinkAddress, SimLink } from './sim-link.ts';

const MAX_QUEUED = 256 * 1024; // bytes; a client that reads nothing loses frames, as a full UART would

/** A TCP port that behaves like a serial line: one client, the next only when that one has gone. */
export class SimServer implements SimLink {
  readonly #server: Server;
  readonly #log: Logger;
  readonly #events: ClientEvents;
  readonly #at: { readonly host: string; readonly port: number };
  #client: Socket | undefined;

  /** @param at where it listens; port 0: any free one */
  constructor(log: Logger, at: { readonly host: string; readonly port: number }, events: ClientEvents) {
    this.#at = at;
    this.#log = log;
    this.#events = events;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  async start(): Promise<LinkAddress> {
    const { host, port } = this.#at;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => this.#log.error(`server: ${messageOf(error)}`));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    const bound = { host: address.address, port: address.port };
    return { ...bound, text: `tcp:${bound.host}:${bound.port}` };
  }

  /** Closes the client's connection; the port stays open. */
  hangUp(): void {
    this.#client?.destroy();
    this.#leave(this.#client);
  }

  async stop(): Promise<void> {
    this.hangUp();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    if (this.#client !== undefined) {
      socket.on('error', (error) => this.#log.debug(`second client: ${messageOf(error)}`));
      socket.destroy();
      return;
    }
    this.#client = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk, performance.now())) {
        if (socket === this.#client) this.#events.received(frame); // a reboot may hang up in the middle
      }
    });
    socket.on('error', (error) => this.#log.debug(`client: ${messageOf(error)}`));
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#leave(socket));
    this.#log.info(`client connected from ${socket.remoteAddress ?? 'nowhere'}`);
    this.#events.connected((bytes) => {
      if (socket.writableLength < MAX_QUEUED) socket.write(bytes);
    });
  }

  #leave(socket: Socket | undefined): void {
    if (socket === undefined || socket !== this.#client) return;
    this.#client = undefined;
    this.#events.connected(undefined);
    this.#log.info('client gone');
  }
}
