import { type BlockList, isIPv4, type Socket } from 'node:net';
import { classifyAddress, peerKey, plainAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import { ConnectionCaps } from '../../../shared/http/edge/connections.ts';
import type { Handshakes } from '../../../shared/http/edge/handshakes.ts';
import { readProxyHeader } from '../../../shared/http/edge/proxy-header.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/** Addresses that have shown a credential: people, connectors, nodes behind one router each. */
const MAX_KNOWN = 4096;

/** Where a connection comes from: the same for each of its requests. */
export interface Entry {
  readonly ip: string;
  /** The key under which it is counted. */
  readonly peer: string;
  /** Ends it, and what waits to be sent. */
  readonly cut: () => void;
  /** A valid credential came from there: it may have more connections. */
  readonly know: () => void;
}

interface EntranceOptions {
  readonly maxConnections: number;
  /** Balancers, which must say who has connected to them, and whom alone this is believed. */
  readonly balancers: BlockList;
  /** Null: no TLS. */
  readonly handshakes: Handshakes | null;
  /** Whether this machine's own programs come in here, for whom there is always a place. */
  readonly forThisMachine: boolean;
  readonly log: Logger;
}

/** One listener's side of a connection before its first byte is read: who it is, whether there is a place, when its handshake begins. */
export class Entrance {
  readonly #options: EntranceOptions;
  readonly #caps: ConnectionCaps;
  /** By the other end of the connection, which the socket with and without TLS both know. */
  readonly #inside = new Map<string, Entry>();
  readonly #entries = new WeakMap<Socket, Entry>();

  constructor(options: EntranceOptions) {
    this.#options = options;
    this.#caps = new ConnectionCaps(options.maxConnections, MAX_KNOWN);
  }

  /** @param go called when the server may have it; otherwise it is destroyed */
  admit(socket: Socket, go: () => void): void {
    const { balancers, forThisMachine, log } = this.#options;
    // Reset before it came here.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const ip = plainAddress(socket.remoteAddress);
    if (!balancers.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6')) {
      this.#enter(socket, ip, forThisMachine && isLoopback(ip), go);
      return;
    }
    readProxyHeader(socket).then(
      (source) => {
        // The balancer's own questions must not be what strangers have left no place for.
        if (source === null) this.#caps.know(peerKey(ip));
        this.#enter(socket, source ?? ip, false, go);
      },
      (error: unknown) => {
        log.debug(`balancer ${ip}: ${messageOf(error)}`);
        socket.destroy();
      },
    );
  }

  /** Of a socket of the server, once it is there: after its handshake where it has one. */
  know(socket: Socket): void {
    const entry = this.#inside.get(endOf(socket));
    if (entry === undefined) socket.destroy();
    else this.#entries.set(socket, entry);
  }

  /** Null for a socket that was never let in. */
  of(socket: Socket): Entry | null {
    return this.#entries.get(socket) ?? null;
  }

  #enter(socket: Socket, ip: string, isHere: boolean, go: () => void): void {
    const { handshakes } = this.#options;
    const peer = peerKey(ip);
    if (socket.destroyed || !this.#caps.open(peer, isHere)) {
      socket.destroy();
      return;
    }
    const end = endOf(socket);
    const entry: Entry = {
      ip,
      peer,
      cut: () => socket.resetAndDestroy(),
      know: () => this.#caps.know(peer),
    };
    this.#inside.set(end, entry);
    socket.once('close', () => {
      this.#caps.close(peer);
      if (this.#inside.get(end) === entry) this.#inside.delete(end);
    });
    if (handshakes === null) go();
    else handshakes.admit(socket, peer, isHere, go);
  }
}

function isLoopback(ip: string): boolean {
  return classifyAddress(ip, { local: undefined, isRoutable: () => true }) === 'loopback';
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
