import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Connection, ExtensionError } from '../../../../shared/plugins/connection.ts';
import { listenUnix } from '../../../../shared/rpc/socket-file.ts';
import type { Hosted } from './hosted.ts';
import type { Methods } from './methods.ts';
import { Session } from './session.ts';

const MAX_CONNECTIONS = 4;
const HELLO_MS = 10_000;

interface HostOptions {
  /** The folder that only this extension sees; `host.sock` is made in it. */
  readonly folder: string;
  readonly hosted: Hosted;
  readonly methods: Pick<Methods, 'call'>;
  readonly onHello?: () => void;
  readonly onProblem: (problem: string) => void;
}

/** The socket of one extension. Whoever can open it is that extension: nothing else sees the folder. */
export class Host {
  readonly #options: HostOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<Session>();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Makes the folder anew: an old socket of the extension's own server must not answer for it. */
  async start(): Promise<void> {
    const { folder } = this.#options;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    // The extension runs as another user, who makes its own socket here; the folder above is closed to everybody else.
    await chmod(folder, 0o777);
    await listenUnix(this.#server, join(folder, 'host.sock'), 0o666);
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.end();
    this.#silent();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) {
      await new Promise<void>((resolve) => {
        this.#server.close(() => resolve());
      });
    }
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  /** Whether it has said hello. */
  get ready(): boolean {
    return this.#sessions.size > 0;
  }

  /** An event for all of its connections. */
  tell(name: string, args: unknown): void {
    for (const { connection } of this.#sessions) connection.tell(name, args);
  }

  /** A grant was revoked. */
  recheck(): void {
    for (const session of this.#sessions) session.recheck();
  }

  /** Asks its newest connection. @throws ExtensionError, `plugin_disconnected` if there is none */
  async ask(method: string, args: unknown, ms: number): Promise<unknown> {
    const session = [...this.#sessions].at(-1);
    if (session === undefined) throw new ExtensionError('plugin_disconnected');
    return session.connection.ask(method, args, ms);
  }

  /** Nobody is there who stands for what it shows. */
  #silent(): void {
    const { hosted } = this.#options;
    hosted.telemetry.clear();
    hosted.camera.end();
  }

  #accept(socket: Socket): void {
    const { hosted, methods, onHello, onProblem } = this.#options;
    this.#sockets.add(socket);
    let session: Session | null = null;
    const late = setTimeout(() => socket.destroy(), HELLO_MS);
    socket.once('close', () => {
      clearTimeout(late);
      this.#sockets.delete(socket);
      if (session === null) return;
      this.#sessions.delete(session);
      session.end();
      if (this.#sessions.size === 0) this.#silent();
    });
    const connection = new Connection({
      socket,
      onBroken: (problem) => onProblem(`its connection was ended: ${problem}`),
      onRequest: async (method, args) => {
        if (session !== null) return methods.call(session, method, args);
        if (method !== 'hello') throw new Error('say hello first');
        clearTimeout(late);
        session = new Session(hosted, connection);
        this.#sessions.add(session);
        onHello?.();
        return {
          plugin_id: hosted.id,
          version: hosted.version,
          profile: hosted.profile,
          grants: [...hosted.grants()].toSorted(),
          config: await hosted.settings.read(),
        };
      },
    });
  }
}
