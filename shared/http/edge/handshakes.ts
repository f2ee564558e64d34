import type { Socket } from 'node:net';
import { type Rate, TokenBucket } from '../../async/token-bucket.ts';

export interface HandshakeLimits {
  /** Begun by one address, and by all. */
  readonly peer: Rate;
  readonly all: Rate;
  /** Not over, of one address, and of all. */
  readonly openPeer: number;
  readonly open: number;
}

const MAX_PEERS = 1024;

/** When connections may begin their TLS handshakes: what an attacker can make this machine compute has a bound. */
export class Handshakes {
  readonly #limits: HandshakeLimits;
  readonly #now: () => number;
  readonly #all: TokenBucket;
  readonly #peers = new Map<string, TokenBucket>();
  /** By the other end of the connection, which the socket with and without TLS both know. */
  readonly #open = new Map<string, { readonly socket: Socket; readonly peer: string }>();

  /** @param now monotonic clock, ms */
  constructor(limits: HandshakeLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#all = new TokenBucket(limits.all, now());
  }

  /**
   * Calls `go` when the handshake may begin: at once, or as soon as the budgets allow it. Where too many wait already, the connection is
   * closed.
   * @param peer the key of its address @param isHere whether it is this machine's, whose programs have no budget
   */
  admit(socket: Socket, peer: string, isHere: boolean, go: () => void): void {
    const { open, openPeer } = this.#limits;
    const ofPeer = [...this.#open.values()].filter((each) => each.peer === peer).length;
    if (this.#open.size >= open || ofPeer >= openPeer) {
      socket.destroy();
      return;
    }
    const end = endOf(socket);
    this.#open.set(end, { socket, peer });
    socket.once('close', () => {
      if (this.#open.get(end)?.socket === socket) this.#open.delete(end);
    });
    if (isHere) go();
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
    const bucket = this.#peers.get(key) ?? new TokenBucket(this.#limits.peer, now);
    this.#peers.set(key, bucket);
    return bucket;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
