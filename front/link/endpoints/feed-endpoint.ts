import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { EndpointStatus, FeedHello, FeedReply } from '../../../shared/rpc/link.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import type { Clock } from '../clock.ts';
import type { Router } from '../router/router.ts';
import type { WirePolicy } from '../router/wire-guard.ts';
import { MessageFilter } from './message-filter.ts';
import { Newcomer } from './newcomer.ts';
import { RoutedPeer } from './routed-peer.ts';
import { StreamSink } from './stream-sink.ts';

const MAX_PEERS = 128;
const MAX_HELLO_BYTES = 4096;
const HELLO_MS = 2000;
const LF = 0x0a;
const BRACE = 0x7b;

export interface FeedEndpointOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly router: Router;
  readonly serialControl: boolean;
}

/**
 * Raw frames for the front's WebSockets, over a Unix socket: a FeedHello as one line of JSON, answered by a FeedReply, then
 * frames both ways. svc-control decides what the client may do; this side enforces it.
 */
export class FeedEndpoint {
  readonly #options: FeedEndpointOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #peers = new Set<RoutedPeer>();
  #turnedAway = 0;

  constructor(options: FeedEndpointOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get status(): EndpointStatus {
    return {
      name: 'websocket',
      open: this.#server.listening,
      problem: null,
      peers_turned_away: this.#turnedAway,
      peers: [...this.#peers].map(({ status }) => status),
    };
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.path);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    const { clock, log } = this.#options;
    if (this.#sockets.size >= MAX_PEERS) {
      this.#turnedAway++;
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    let waiting: Buffer = Buffer.alloc(0);
    let peer: RoutedPeer | null = null;
    let newcomer: Newcomer | null = null;
    const timer = clock.after(HELLO_MS, () => socket.destroy());
    socket.on('error', (error) => log.debug(`feed: ${messageOf(error)}`)); // 'close' follows
    socket.on('close', () => {
      timer.cancel();
      this.#sockets.delete(socket);
      if (peer === null) return;
      peer.detach();
      this.#peers.delete(peer);
    });
    socket.on('data', (chunk: Buffer) => {
      if (newcomer !== null) {
        if (newcomer.push(chunk) !== null) socket.destroy();
        return;
      }
      waiting = Buffer.concat([waiting, chunk]);
      const end = waiting.indexOf(LF);
      if (waiting[0] !== BRACE || (end === -1 && waiting.length > MAX_HELLO_BYTES)) {
        this.#turnedAway++;
        socket.destroy();
        return;
      }
      if (end === -1) return;
      timer.cancel();
      peer = this.#begin(socket, waiting.toString('utf8', 0, end));
      if (peer === null) {
        socket.removeAllListeners('data').resume(); // whatever follows a refused hello is discarded
        return;
      }
      newcomer = new Newcomer(peer);
      if (newcomer.push(waiting.subarray(end + 1)) !== null) socket.destroy();
    });
  }

  /** @returns null after a hello that was refused */
  #begin(socket: Socket, line: string): RoutedPeer | null {
    const { clock, router, serialControl } = this.#options;
    const hello = parseHello(line);
    const filter = hello === null || hello.msgs === null ? null : MessageFilter.parse(hello.msgs, clock);
    if (hello === null || typeof filter === 'string') {
      answer(socket, { ok: false, detail: typeof filter === 'string' ? filter : 'not a hello' });
      socket.end();
      return null;
    }
    answer(socket, { ok: true });
    const policy: WirePolicy = {
      mayWrite: hello.write,
      force: hello.force,
      serialControl,
      clientId: hello.client_id,
    };
    const sink = new StreamSink(socket, filter);
    const peer = new RoutedPeer(hello.name, clock, router, sink, policy);
    this.#peers.add(peer);
    return peer;
  }
}

function answer(socket: Socket, reply: FeedReply): void {
  socket.write(`${JSON.stringify(reply)}\n`);
}

function parseHello(line: string): FeedHello | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { name, write, force, msgs, client_id: clientId } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || typeof write !== 'boolean' || typeof force !== 'boolean') return null;
  if (msgs !== null && typeof msgs !== 'string') return null;
  if (clientId !== undefined && clientId !== null && typeof clientId !== 'string') return null;
  return { name, write, force, msgs, ...(clientId === undefined ? {} : { client_id: clientId }) };
}
