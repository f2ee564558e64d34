import { createServer, type Server, type Socket } from 'node:net';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import { MEDIA_HEADER_BYTES } from '../protocol.ts';
import type { AccessUnit } from './picture.ts';

// About eight seconds of the largest profile: a client that is so far behind shows nothing live any more.
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
const MAX_CLIENTS = 16;

/** Hands every access unit to every client of video-media.sock. A slow one loses pictures until the next key frame. */
export class MediaServer {
  readonly #path: string;
  readonly #server: Server;
  /** Whether the client is to be given pictures yet: from a key frame on. */
  readonly #clients = new Map<Socket, boolean>();
  readonly #requestKey: () => void;
  #drops = 0;

  constructor(path: string, requestKey: () => void) {
    this.#path = path;
    this.#requestKey = requestKey;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get clients(): number {
    return this.#clients.size;
  }

  get drops(): number {
    return this.#drops;
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#path);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.keys()) client.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  push(unit: AccessUnit): void {
    if (this.#clients.size === 0) return;
    const header = Buffer.allocUnsafe(MEDIA_HEADER_BYTES);
    header.writeUInt32BE(unit.data.length, 0);
    header.writeUInt8(unit.key ? 1 : 0, 4);
    header.writeDoubleBE(unit.at, 5);
    header.writeDoubleBE(unit.capturedAt, 13);
    for (const [client, flowing] of this.#clients) {
      if (!flowing && !unit.key) continue;
      if (client.writableLength > MAX_QUEUED_BYTES) {
        this.#drops++;
        if (flowing) this.#clients.set(client, false);
        continue;
      }
      if (!flowing) this.#clients.set(client, true);
      client.cork();
      client.write(header);
      client.write(unit.data);
      client.uncork();
    }
  }

  #accept(socket: Socket): void {
    if (this.#clients.size >= MAX_CLIENTS) {
      socket.destroy();
      return;
    }
    this.#clients.set(socket, false);
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.#clients.delete(socket));
    socket.once('data', () => socket.destroy()); // a client of ours never says anything
    this.#requestKey();
  }
}
