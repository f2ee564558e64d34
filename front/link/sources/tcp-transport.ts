import type { NetConnectOpts, Socket } from 'node:net';
import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import { newTransportCounters, type Transport, type TransportEvents } from './transport.ts';

const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 250;
/** Below the 5 s in which a vehicle that came back must be connected again (docs/threat-model.md J1). */
const LAST_RETRY_MS = 4000;
const KEEPALIVE_MS = 5000;
/**
 * A connection that is silent for this long is reopened. A vehicle sends a heartbeat a second, and TCP itself takes minutes to
 * notice that a peer is gone.
 */
const SILENT_MS = 15_000;
/** A few seconds of a busy link; beyond it the peer does not read. */
const MAX_QUEUED_BYTES = 64 * 1024;

interface TcpTransportOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** `connect` of node:net */
  readonly connect: (options: NetConnectOpts) => Socket;
}

/** MAVLink over a TCP connection that we open: SITL, the simulator, a serial bridge. */
export class TcpTransport implements Transport {
  readonly baud = null;
  readonly counters = newTransportCounters();
  readonly #options: TcpTransportOptions;
  readonly #retry: Retry;
  #events: TransportEvents | null = null;
  #socket: Socket | null = null;
  #open = false;
  #everOpen = false;
  #timer: Timer | null = null;
  #lastByteAt = 0;
  #lastProblem = '';

  constructor(options: TcpTransportOptions) {
    this.#options = options;
    const { clock } = options;
    const after = (ms: number, run: () => void): Timer => clock.after(ms, run);
    this.#retry = new Retry(() => this.#connect(), { firstMs: FIRST_RETRY_MS, capMs: LAST_RETRY_MS, after });
  }

  get open(): boolean {
    return this.#open;
  }

  get port(): string | null {
    return this.#open ? `tcp:${this.#options.host}:${this.#options.port}` : null;
  }

  start(events: TransportEvents): void {
    this.#events = events;
    this.#retry.start();
  }

  async stop(): Promise<void> {
    this.#events = null;
    this.#retry.stop();
    this.#timer?.cancel();
    const socket = this.#socket;
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.destroy();
    });
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    if (!this.#open || socket === null || socket.writableLength + bytes.length > MAX_QUEUED_BYTES) {
      this.counters.txDropped++;
      return false;
    }
    socket.write(bytes);
    this.counters.txFrames++;
    this.counters.txBytes += bytes.length;
    return true;
  }

  #connect(): void {
    const { host, port, clock } = this.#options;
    const socket = this.#options.connect({ host, port, noDelay: true });
    this.#socket = socket;
    this.#timer = clock.after(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no answer within 2 s')));
    socket.on('connect', () => this.#opened(socket));
    socket.on('data', (chunk: Buffer) => {
      this.#lastByteAt = clock.now();
      this.#retry.worked(); // not at 'connect': a port that accepts and closes at once would be retried without a pause
      this.#events?.onData(chunk);
    });
    // 'close' follows and tries again; the reason is logged once, not every 4 s.
    socket.on('error', (error) => this.#report(messageOf(error)));
    socket.on('close', () => this.#closed());
  }

  #opened(socket: Socket): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#lastByteAt = clock.now();
    this.#timer = clock.every(SILENT_MS / 3, () => {
      if (clock.now() - this.#lastByteAt >= SILENT_MS) socket.destroy(new Error('silent for 15 s'));
    });
    socket.setKeepAlive(true, KEEPALIVE_MS);
    if (this.#everOpen) this.counters.reconnects++;
    this.#everOpen = true;
    this.#open = true;
    this.#lastProblem = '';
    this.#options.log.info(`connected to ${this.port ?? ''}`);
    this.#events?.onOpen();
  }

  #closed(): void {
    const was = this.#open;
    this.#timer?.cancel();
    this.#open = false;
    this.#socket = null;
    if (this.#events === null) return;
    if (was) {
      this.#report('connection closed');
      this.#events.onClose();
    }
    this.#retry.again();
  }

  #report(problem: string): void {
    if (problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    this.#options.log.warn(`tcp:${this.#options.host}:${this.#options.port}: ${problem}`);
  }
}
