import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'radio');

/** The lines of a recording of wfb-ng's JSON API. */
export function recorded(name: string): readonly string[] {
  return readFileSync(join(FOLDER, `${name}.ndjson`), 'utf8')
    .trim()
    .split('\n');
}

/** A JSON API of wfb-ng that says what the test wants. */
export class ReportServer {
  readonly #server: Server = createServer((socket) => this.#accept(socket));
  readonly #clients = new Set<Socket>();
  #waiting: (() => void)[] = [];
  port = 0;

  async start(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when somebody is connected. */
  async client(): Promise<void> {
    if (this.#clients.size === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  send(data: string | Buffer): void {
    for (const client of this.#clients) client.write(data);
  }

  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    socket.setNoDelay(true);
    this.#clients.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#clients.delete(socket));
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
