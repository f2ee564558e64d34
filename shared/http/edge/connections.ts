/** Limits of connections (docs/contract/edge.md#budgets): one peer cannot take them all, and the owner can always connect. */

/** For one address: a browser opens six, and several users behind one router a few dozen. */
const MAX_PER_PEER = 64;
/** For an address from which a valid credential came. */
const MAX_PER_KNOWN_PEER = 256;
/** The last connections are kept for this machine and for known peers. */
const RESERVE = 128;
const MAX_KNOWN = 256;

export class ConnectionCaps {
  readonly #max: number;
  readonly #maxKnown: number;
  readonly #open = new Map<string, number>();
  /** Oldest first. */
  readonly #known = new Set<string>();
  #total = 0;

  /** @param max connections of the listener in all @param maxKnown addresses that are remembered for their credential */
  constructor(max: number, maxKnown = MAX_KNOWN) {
    this.#max = max;
    this.#maxKnown = maxKnown;
  }

  /**
   * Whether another connection of this peer is let in; if it is, it is counted until `close`.
   * @param isHere whether it comes from this machine
   */
  open(peer: string, isHere: boolean): boolean {
    const own = this.#open.get(peer) ?? 0;
    if (!isHere) {
      const isKnown = this.#known.has(peer);
      if (own >= (isKnown ? MAX_PER_KNOWN_PEER : MAX_PER_PEER)) return false;
      if (this.#total >= (isKnown ? this.#max - RESERVE / 2 : this.#max - RESERVE)) return false;
    }
    this.#open.set(peer, own + 1);
    this.#total++;
    return true;
  }

  close(peer: string): void {
    const own = (this.#open.get(peer) ?? 1) - 1;
    if (own > 0) this.#open.set(peer, own);
    else this.#open.delete(peer);
    this.#total--;
  }

  /** Marks a peer as known: it has sent a valid credential. */
  know(peer: string): void {
    if (this.#known.has(peer)) return;
    const [oldest] = this.#known;
    if (this.#known.size >= this.#maxKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.add(peer);
  }
}
