import type { RemoteInfo, Socket } from 'node:dgram';
import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import { Addresses, EVERYBODY, type FrameTarget } from '../router/addresses.ts';
import { Opening } from '../router/opening.ts';
import { SendWatch } from '../send-watch.ts';
import { bindTowards, isBroadcast, tookAnotherPort } from '../udp-socket.ts';
import { kernelDrops } from './kernel-drops.ts';
import { newTransportCounters, type Transport, type TransportEvents } from './transport.ts';

/** A peer that was silent for this long is gone (docs/contract/flight.md). */
const EXPIRE_MS = 12_000;
/** A vehicle, its devices, some stations; the longest silent one makes room. */
const MAX_PEERS = 16;
const LOOK_MS = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;
const MAX_QUEUED_BYTES = 64 * 1024;

interface UdpTransportOptions {
  /** `listen`: the vehicle sends to us, and its first frame tells us its address. `connect`: we send first. */
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
  /** Who was heard from there. */
  readonly addresses: Addresses;
  heardAt: number;
  /** The vehicle itself was heard from there. */
  isVehicle: boolean;
}

/** The one peer of a socket that speaks first. */
const CONNECTED = 'connected';

/**
 * MAVLink over UDP. When listening, everybody whose datagram begins with a whole frame with a right checksum is a peer: a station or a
 * camera that speaks first displaces nobody. A frame goes to whom its target was heard from, to all where that is nobody. A peer that is
 * silent for 12 s is gone, but for the last one: it may hear us though we do not hear it.
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
  /** The kernel knows the other end. */
  #connected = false;
  /** By address and port, in the order in which they came. */
  readonly #peers = new Map<string, Peer>();
  readonly #opening: Opening;
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
    this.#opening = new Opening(clock);
    this.#watch = new SendWatch(options.clock, (error) => {
      if (this.#socket !== null) this.#fail(this.#socket, error);
    });
  }

  get open(): boolean {
    return this.#ready && this.#peers.size > 0;
  }

  /** Where the vehicle is; while nobody is known to be it, whoever came first. */
  get port(): string | null {
    if (!this.#ready) return null;
    const [first] = this.#peers.values();
    const vehicle = [...this.#peers.values()].findLast(({ isVehicle }) => isVehicle) ?? first;
    if (vehicle === undefined) return null;
    return `${this.#options.mode === 'listen' ? 'udp' : 'udpout'}:${vehicle.address}:${vehicle.port}`;
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
    this.#peers.clear();
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      socket.close(() => resolve());
    });
  }

  learn(frame: Frame, from: string, isVehicle: boolean): void {
    const peer = this.#peers.get(from);
    if (peer === undefined) return;
    peer.addresses.learn(frame);
    if (!isVehicle || peer.isVehicle) return;
    peer.isVehicle = true;
    // It speaks from a new place, or another one does: the newest is the one to show.
    this.#peers.delete(from);
    this.#peers.set(from, peer);
  }

  write(bytes: Uint8Array, target: FrameTarget = EVERYBODY): boolean {
    const socket = this.#socket;
    const { counters } = this;
    if (!this.#ready || socket === null || this.#peers.size === 0) {
      counters.txDropped++;
      return false;
    }
    const all = [...this.#peers.values()];
    const meant = all.filter(({ addresses }) => addresses.has(target));
    const { done } = this.#watch;
    let left = false;
    for (const { address, port } of meant.length === 0 ? all : meant) {
      if (socket.getSendQueueSize() + bytes.length > MAX_QUEUED_BYTES) {
        counters.txDropped++;
        break;
      }
      if (this.#connected) socket.send(bytes, done);
      else socket.send(bytes, port, address, done);
      left = true;
    }
    if (!left) return false;
    counters.txFrames++;
    counters.txBytes += bytes.length;
    return true;
  }

  #open(): void {
    const { mode, host, port } = this.#options;
    const socket = this.#options.createSocket();
    this.#socket = socket;
    this.#connected = false;
    socket.on('message', (bytes, from) => this.#receive(bytes, from));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (mode === 'connect' && !this.#ready && tookAnotherPort(socket, error)) return;
      // "Port unreachable" from the other end: nobody listens there yet, and the socket still works.
      if (this.#ready && error.code === 'ECONNREFUSED') return;
      this.#fail(socket, error);
    });
    if (mode === 'listen') {
      socket.bind({ address: host, port }, () => this.#listening());
      return;
    }
    bindTowards(socket, host, port, () => {
      if (this.#socket !== socket) return;
      if (isBroadcast(host)) this.#reach(CONNECTED, host, port);
      else this.#connect(socket);
    });
  }

  #connect(socket: Socket): void {
    const { host, port } = this.#options;
    // An error (no such name, no route) goes to the callback.
    socket.connect(port, host, (error?: Error) => {
      if (this.#socket !== socket) return;
      if (error !== undefined) {
        this.#fail(socket, error);
        return;
      }
      this.#connected = true;
      const { address, port: remotePort } = socket.remoteAddress();
      this.#reach(CONNECTED, address, remotePort);
    });
  }

  #reach(key: string, address: string, port: number): void {
    this.#ready = true;
    this.#retry.worked();
    this.#meet(key, address, port);
    this.#look();
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
      if (mode === 'listen') this.#expire(clock.now());
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

  #receive(bytes: Buffer, { address, port }: RemoteInfo): void {
    if (this.#events === null) return;
    const key = this.#connected ? CONNECTED : `${address}:${port}`;
    let peer = this.#peers.get(key);
    if (peer === undefined) {
      if (!this.#opening.isMavlink(bytes)) return;
      this.#makeRoom();
      peer = this.#meet(key, address, port);
    }
    peer.heardAt = this.#options.clock.now();
    this.#events.onData(bytes, key);
  }

  #expire(now: number): void {
    for (const [key, peer] of this.#peers) {
      if (this.#peers.size === 1) return;
      // The vehicle's place stays until somebody else has spoken as it: we may be heard there.
      if (now - peer.heardAt >= EXPIRE_MS && !this.#isLastPlace(peer)) this.#part(key);
    }
  }

  #isLastPlace({ isVehicle, heardAt }: Peer): boolean {
    if (!isVehicle) return false;
    for (const other of this.#peers.values()) if (other.isVehicle && other.heardAt > heardAt) return false;
    return true;
  }

  #makeRoom(): void {
    if (this.#peers.size < MAX_PEERS) return;
    const others = [...this.#peers].filter(([, peer]) => !this.#isLastPlace(peer));
    const [longest] = others.toSorted(([, a], [, b]) => a.heardAt - b.heardAt);
    if (longest !== undefined) this.#part(longest[0]);
  }

  #meet(key: string, address: string, port: number): Peer {
    const now = this.#options.clock.now();
    const peer: Peer = { address, port, addresses: new Addresses(), heardAt: now, isVehicle: false };
    const isFirst = this.#peers.size === 0;
    this.#peers.set(key, peer);
    this.#lastProblem = '';
    this.#options.log.info(`connected to ${address}:${port}`);
    if (!isFirst) return peer;
    if (this.#everOpen) this.counters.reconnects++;
    this.#everOpen = true;
    this.#events?.onOpen();
    return peer;
  }

  #part(key: string): void {
    this.#peers.delete(key);
    this.#events?.onGone?.(key);
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
    const wasOpen = this.#peers.size > 0;
    this.#peers.clear();
    if (wasOpen) this.#events?.onClose();
    this.#retry.again();
  }
}
