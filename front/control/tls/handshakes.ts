import type { Socket } from 'node:net';
import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { classifyAddress, peerKey, plainAddress } from '../../../shared/auth/address.ts';

/** A handshake costs 5 ms on a Pi Zero 2 W; a browser opens six connections, and keeps them. */
const PEER: Rate = { perSecond: 10, burst: 40 };
const ALL: Rate = { perSecond: 40, burst: 120 };
/** Handshakes that are not over: of all, and of one address. */
const MAX_OPEN = 64;
const MAX_OPEN_PEER = 12;
const MAX_PEERS = 1024;

/** When connections may begin their TLS handshakes: what an attacker can make this node compute has a bound. */
export class Handshakes {
  readonly #now: () => number;
  readonly #all: TokenBucket;
  readonly #peers = new Map<string, TokenBucket>();
  /** By the other end of the connection, which the socket with and without TLS both know. */
  readonly #open = new Map<string, { readonly socket: Socket; readonly peer: string }>();

  /** @param now monotonic clock, ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#all = new TokenBucket(ALL, now());
  }

  /**
   * Calls `go` when the handshake may begin: at once, or as soon as the budgets allow it. Where too many wait already, the connection is
   * closed.
   */
  admit(socket: Socket, go: () => void): void {
    const peer = peerKey(plainAddress(socket.remoteAddress ?? ''));
    const ofPeer = [...this.#open.values()].filter((each) => each.peer === peer).length;
    if (this.#open.size >= MAX_OPEN || ofPeer >= MAX_OPEN_PEER) {
      socket.destroy();
      return;
    }
    const end = endOf(socket);
    this.#open.set(end, { socket, peer });
    socket.once('close', () => {
      if (this.#open.get(end)?.socket === socket) this.#open.delete(end);
    });
    // This machine's programs have no budget.
    const near = { local: undefined, isRoutable: () => true };
    if (classifyAddress(socket.remoteAddress, near) === 'loopback') go();
    else this.#begin(socket, peer, go);
  }

  #begin(socket: Socket, peer: string, go: () => void): void {
    if (socket.destroyed) return;
    const now = this.#now();
    const own = this.#bucketOf(peer, now);
    const waitMs = Math.max(own.waitMs(now), this.#all.waitMs(now));
    if (waitMs > 0) {
      setTimeout(() => this.#begin(socket, peer, go), waitMs).unref();
      return;
    }
    own.take(now);
    this.#all.take(now);
    go();
  }

  /** Its handshake is over. */
  done(socket: Socket): void {
    this.#open.delete(endOf(socket));
  }

  /** Ends those that are not over. */
  end(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #bucketOf(peer: string, now: number): TokenBucket {
    const known = this.#peers.get(peer);
    if (known !== undefined) return known;
    // What is full again remembers nothing; if none is, newcomers share one.
    if (this.#peers.size >= MAX_PEERS)
      for (const [key, bucket] of this.#peers) if (bucket.isFull(now)) this.#peers.delete(key);
    const key = this.#peers.size >= MAX_PEERS ? '*' : peer;
    const bucket = this.#peers.get(key) ?? new TokenBucket(PEER, now);
    this.#peers.set(key, bucket);
    return bucket;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
