import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

const MAX_CLIENTS = 16;
const MAX_WAITING_BYTES = 256 * 1024;

/** wfb-ng's JSON API: TCP, a JSON object a line, the settings first. */
export class ReportServer {
  readonly #port: number;
  readonly #settings: string;
  readonly #clients = new Set<Socket>();
  #server: Server | null = null;

  constructor(port: number, settings: unknown) {
    this.#port = port;
    this.#settings = `${JSON.stringify(settings)}\n`;
  }

  async start(): Promise<void> {
    const server = createServer((socket) => {
      this.#clients.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#clients.delete(socket));
      socket.resume(); // it takes no requests
      socket.write(this.#settings);
    });
    this.#server = server;
    server.maxConnections = MAX_CLIENTS;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
  }

  stop(): void {
    for (const client of this.#clients) client.destroy();
    this.#server?.close();
  }

  tell(record: unknown): void {
    const line = `${JSON.stringify(record)}\n`;
    for (const client of this.#clients) {
      if (client.writableLength > MAX_WAITING_BYTES) client.destroy();
      else client.write(line);
    }
  }
}
