import type { RemoteInfo, Socket } from 'node:dgram';
import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import { STX_V1, STX_V2 } from '../../../shared/mavlink/frame-head.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import { SendWatch } from '../send-watch.ts';
import { kernelDrops } from './kernel-drops.ts';
import { newTransportCounters, type Transport, type TransportEvents } from './transport.ts';

/** A peer that was silent for this long is gone (docs/contract.md 6). */
const EXPIRE_MS = 12_000;
/** After this silence another peer may take its place: a vehicle that restarted sends from another port. */
const YIELD_MS = 3000;
const LOOK_MS = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;
const MAX_QUEUED_BYTES = 64 * 1024;

interface UdpTransportOptions {
  /** `listen`: the vehicle sends to us, and its first MAVLink tells us its address. `connect`: we send first. */
  readonly mode: 'listen' | 'connect';
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** A socket of node:dgram, for IPv4 or IPv6 as the host asks. */
  readonly createSocket: () => Socket;
}

interface Peer {
  readonly address: string;
  readonly port: number;
}

/**
 * MAVLink over UDP with one vehicle at the other end. When listening, the first sender of MAVLink is the vehicle; others are
 * ignored until it has been silent for 3 s.
 */
export class UdpTransport implements Transport {
  readonly baud = null;
  readonly counters = newTransportCounters();
  readonly #options: UdpTransportOptions;
  readonly #retry: Retry;
  #events: TransportEvents | null = null;
  readonly #watch: SendWatch;
  #socket: Socket | null = null;
  #ready = false;
  #peer: Peer | null = null;
  #heardAt = 0;
  #everOpen = false;
  #timer: Timer | null = null;
  /** Of `#socket`, when the kernel was asked last. */
  #drops = 0;
  #lastProblem = '';

  constructor(options: UdpTransportOptions) {
    this.#options = options;
    const { clock } = options;
    const after = (ms: number, run: () => void): Timer => clock.after(ms, run);
    this.#retry = new Retry(() => this.#open(), { firstMs: FIRST_RETRY_MS, capMs: LAST_RETRY_MS, after });
    this.#watch = new SendWatch(options.clock, (error) => {
      if (this.#socket !== null) this.#fail(this.#socket, error);
    });
  }

  get open(): boolean {
    return this.#ready && this.#peer !== null;
  }

  get port(): string | null {
    const peer = this.#peer;
    if (!this.#ready || peer === null) return null;
    return this.#options.mode === 'listen'
      ? `udp:${peer.address}:${peer.port}`
      : `udpout:${peer.address}:${peer.port}`;
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
    this.#socket = null;
    this.#ready = false;
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      socket.close(() => resolve());
    });
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    const peer = this.#peer;
    if (
      !this.#ready ||
      socket === null ||
      peer === null ||
      socket.getSendQueueSize() + bytes.length > MAX_QUEUED_BYTES
    ) {
      this.counters.txDropped++;
      return false;
    }
    const { done } = this.#watch;
    if (this.#options.mode === 'connect') socket.send(bytes, done);
    else socket.send(bytes, peer.port, peer.address, done);
    this.counters.txFrames++;
    this.counters.txBytes += bytes.length;
    return true;
  }

  #open(): void {
    const { mode, host, port } = this.#options;
    const socket = this.#options.createSocket();
    this.#socket = socket;
    socket.on('message', (bytes, from) => this.#receive(bytes, from));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // "Port unreachable" from the other end: nobody listens there yet, and the socket still works.
      if (this.#ready && error.code === 'ECONNREFUSED') return;
      this.#fail(socket, error);
    });
    if (mode === 'listen') {
      socket.bind({ address: host, port }, () => this.#listening());
      return;
    }
    // An error (no such name, no route) goes to the callback.
    socket.connect(port, host, (error?: Error) => {
      if (this.#socket !== socket) return;
      if (error !== undefined) {
        this.#fail(socket, error);
        return;
      }
      this.#ready = true;
      this.#retry.worked();
      const { address, port: remotePort } = socket.remoteAddress();
      this.#meet({ address, port: remotePort });
      this.#look();
    });
  }

  #listening(): void {
    const { host, port, log } = this.#options;
    this.#ready = true;
    this.#retry.worked();
    log.info(`waiting for a flight controller on udp:${host}:${port}`);
    this.#look();
  }

  #look(): void {
    const { clock, mode } = this.#options;
    this.#drops = 0;
    this.#timer = clock.every(LOOK_MS, () => {
      void this.#countDrops();
      if (mode === 'connect' || this.#peer === null) return;
      if (clock.now() - this.#heardAt >= EXPIRE_MS) this.#part();
    });
  }

  async #countDrops(): Promise<void> {
    const socket = this.#socket;
    if (socket === null) return;
    const drops = await kernelDrops(socket.address()).catch((error: unknown) => {
      this.#options.log.debug(`/proc/net/udp: ${messageOf(error)}`);
      return null;
    });
    if (drops === null || this.#socket !== socket) return;
    this.counters.rxKernelDropped = (this.counters.rxKernelDropped ?? 0) + drops - this.#drops;
    this.#drops = drops;
  }

  #receive(bytes: Buffer, from: RemoteInfo): void {
    if (this.#events === null) return;
    const now = this.#options.clock.now();
    if (this.#options.mode === 'listen') {
      const peer = this.#peer;
      if (peer === null || peer.port !== from.port || peer.address !== from.address) {
        if (bytes[0] !== STX_V1 && bytes[0] !== STX_V2) return;
        if (peer !== null && now - this.#heardAt < YIELD_MS) return;
        this.#part();
        this.#meet({ address: from.address, port: from.port });
      }
    }
    this.#heardAt = now;
    this.#events.onData(bytes);
  }

  #meet(peer: Peer): void {
    this.#peer = peer;
    this.#heardAt = this.#options.clock.now();
    if (this.#everOpen) this.counters.reconnects++;
    this.#everOpen = true;
    this.#lastProblem = '';
    this.#options.log.info(`connected to ${this.port ?? ''}`);
    this.#events?.onOpen();
  }

  #part(): void {
    if (this.#peer === null) return;
    this.#peer = null;
    this.#events?.onClose();
  }

  #fail(socket: Socket, error: Error): void {
    if (this.#socket !== socket) return;
    const { mode, host, port, log } = this.#options;
    const problem = messageOf(error);
    if (problem !== this.#lastProblem)
      log.warn(`${mode === 'listen' ? 'udp' : 'udpout'}:${host}:${port}: ${problem}`);
    this.#lastProblem = problem;
    this.#ready = false;
    this.#socket = null;
    this.#timer?.cancel();
    socket.close();
    this.#part();
    this.#retry.again();
  }
}
