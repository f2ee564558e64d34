import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { codeOf, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { SentStatus } from '../../../shared/rpc/video.ts';
import type { HostPort } from '../../../shared/schemas/addresses.ts';

// One line a minute at most: nobody listening yet is the normal case before the radio is up.
const COMPLAIN_MS = 60_000;
/** A name is looked up again after this time; one that was not found, too. */
const LOOKUP_MS = 30_000;
/** A refusal counts for so long: something is sent every second (`Outputs.keepAlive`). */
const REFUSED_MS = 3000;
/** More than this in the kernel's queue, and pictures are dropped: about a second of video. */
const MAX_QUEUED_BYTES = 1024 * 1024;

interface UdpSenderOptions {
  readonly to: HostPort;
  /** What is sent, for the log. */
  readonly what: string;
  /** Why nothing may be sent to this IP address and port; null if it may. */
  readonly refuse: (address: string, port: number) => string | null;
  /** Find out whether anybody listens, if it is a port of this machine. */
  readonly probes: boolean;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** Sends datagrams to one receiver. It never blocks. */
export class UdpSender {
  readonly #options: UdpSenderOptions;
  readonly #to: string;
  #socket: Socket | null = null;
  #address: string | null = null;
  #problem: string | null = null;
  #lookedUpAt = -Infinity;
  #complainedAt = -Infinity;
  #packets = 0;
  #bytes = 0;
  #failed = 0;
  /** Its socket is to be connected: only so it hears that nobody has the port open. */
  #probing = false;
  #connected = false;
  #refusedAt = -Infinity;
  #stopped = false;

  constructor(options: UdpSenderOptions) {
    this.#options = options;
    const { host, port } = options.to;
    this.#to = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    if (isIP(host) !== 0) this.#found(host);
    else this.#lookUp();
  }

  /** The IP address that it sends to; null while that is not known. */
  get address(): string | null {
    return this.#address;
  }

  /** Nobody has the port open, as far as the receiver's machine says so. */
  get refused(): boolean {
    return this.#options.now() - this.#refusedAt < REFUSED_MS;
  }

  get status(): SentStatus {
    const [packets, bytes, failed] = [this.#packets, this.#bytes, this.#failed];
    return { to: this.#to, packets, bytes, failed, problem: this.#problem };
  }

  /** @param packets must not change afterwards */
  send(packets: readonly Buffer[]): void {
    const { to, now } = this.#options;
    if (isIP(to.host) === 0 && now() - this.#lookedUpAt > LOOKUP_MS) this.#lookUp();
    const [socket, address] = [this.#socket, this.#address];
    if (socket === null || address === null || this.#probing !== this.#connected) return;
    for (const packet of packets) {
      if (socket.getSendQueueSize() > MAX_QUEUED_BYTES) {
        this.#fail(new Error('the network is too slow'));
        return;
      }
      this.#packets++;
      this.#bytes += packet.length;
      const sent = (error: Error | null): void => {
        if (error !== null) this.#fail(error);
        else this.#problem = null;
      };
      if (this.#connected) socket.send(packet, sent);
      else socket.send(packet, to.port, address, sent);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#close();
  }

  #lookUp(): void {
    this.#lookedUpAt = this.#options.now();
    lookup(this.#options.to.host).then(
      ({ address }) => {
        if (!this.#stopped && address !== this.#address) this.#found(address);
      },
      (error: unknown) => {
        if (this.#address === null) this.#fail(error);
      },
    );
  }

  #found(address: string): void {
    this.#close();
    this.#address = address;
    this.#problem = this.#options.refuse(address, this.#options.to.port);
    if (this.#problem !== null) {
      this.#complain();
      return;
    }
    const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
    socket.on('error', (error) => this.#fail(error));
    socket.unref();
    this.#socket = socket;
    // The way to another machine may change, which a connected socket would not follow.
    this.#probing = this.#options.probes && (address.startsWith('127.') || address === '::1');
    if (!this.#probing) return;
    socket.connect(this.#options.to.port, address, () => {
      this.#connected = true;
    });
  }

  #close(): void {
    this.#socket?.close();
    this.#socket = null;
    this.#connected = false;
  }

  #fail(error: unknown): void {
    // Nobody listens yet, as before the radio is up.
    if (codeOf(error) === 'ECONNREFUSED') {
      this.#refusedAt = this.#options.now();
      return;
    }
    this.#failed++;
    this.#problem = messageOf(error);
    this.#complain();
  }

  #complain(): void {
    const { what, now, log } = this.#options;
    if (now() - this.#complainedAt < COMPLAIN_MS) return;
    this.#complainedAt = now();
    log.warn(`video: ${what} to ${this.#to}: ${this.#problem ?? ''}`);
  }
}
