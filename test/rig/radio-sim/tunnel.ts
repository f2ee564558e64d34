import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { every } from '../../../shared/async/every.ts';
import { decodeSegment, encodeSegment, type Segment } from './segment.ts';
import { TunnelStream } from './tunnel-stream.ts';

const KEEPALIVE_MS = 500;
const TICK_MS = 25;
const MAX_CONNECTIONS = 64;
/** Ids of connections that are over, so that what comes late does not open them again. */
const MAX_REMEMBERED = 256;
const NOTHING = Buffer.alloc(0);

interface TunnelOptions {
  readonly end: 'drone' | 'gs';
  /** A ground station listens there, a drone connects to it. */
  readonly host: string;
  readonly port: number;
  readonly send: (packet: Buffer) => void;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/**
 * The tunnel between the ends, without a network interface and so without root: it carries TCP connections from the drone's
 * address, as the ground station knows it, to the drone's own listener.
 */
export class Tunnel {
  readonly #options: TunnelOptions;
  readonly #streams = new Map<number, TunnelStream>();
  readonly #over = new Set<number>();
  #server: Server | null = null;
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(options: TunnelOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { end, host, port, send } = this.#options;
    this.#timers = [
      every(KEEPALIVE_MS, 'keepalive of the tunnel', () => send(NOTHING)),
      every(TICK_MS, 'tunnel', () => {
        for (const stream of this.#streams.values()) stream.tick();
      }),
    ];
    if (end === 'drone') return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#begin(socket));
    this.#server = server;
    server.maxConnections = MAX_CONNECTIONS;
    server.listen(port, host);
    await once(server, 'listening');
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const stream of this.#streams.values()) stream.reset();
    this.#server?.close();
  }

  /** Takes a packet that came through the air. */
  receive(packet: Buffer): void {
    const segment = decodeSegment(packet);
    if (segment === null) return; // a keepalive
    const stream = this.#streams.get(segment.connection) ?? this.#accept(segment);
    stream?.receive(segment);
  }

  #begin(socket: Socket): void {
    this.#add(randomInt(1, 2 ** 32), socket).open();
  }

  /** A connection that this end does not know: a new one, or one that is over. */
  #accept({ connection, kind }: Segment): TunnelStream | null {
    const { end, host, port, send } = this.#options;
    const over = this.#over.has(connection);
    const room = this.#streams.size < MAX_CONNECTIONS;
    if (end === 'drone' && kind === 'open' && !over && room)
      return this.#add(connection, connect({ host, port, allowHalfOpen: true, noDelay: true }));
    // Others may be ahead of the segment that opens it.
    if (kind !== 'reset' && (over || end === 'gs'))
      send(encodeSegment({ connection, kind: 'reset', seq: 0, ack: 0, more: 0, payload: NOTHING }));
    return null;
  }

  #add(connection: number, socket: Socket): TunnelStream {
    const { send, now } = this.#options;
    const stream = new TunnelStream({
      connection,
      socket,
      send: (segment) => send(encodeSegment(segment)),
      onDone: () => {
        this.#streams.delete(connection);
        this.#over.add(connection);
        const [oldest] = this.#over;
        if (this.#over.size > MAX_REMEMBERED && oldest !== undefined) this.#over.delete(oldest);
      },
      now,
    });
    this.#streams.set(connection, stream);
    return stream;
  }
}
