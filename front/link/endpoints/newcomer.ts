import type { RoutedPeer } from './routed-peer.ts';

/** Bytes allowed before the first whole frame: a peer may join in the middle of one. */
const MAX_PRELUDE_BYTES = 512;
/** Longer than any method of HTTP with its space. */
const OPENING_BYTES = 24;
const HTTP_METHOD = /^[A-Za-z-]{3,20} /;
const TLS_HELLO = '\u0016\u0003';

/**
 * A peer until its first frame. MAVLink has no handshake, and the framer skips whatever comes before a frame: without this
 * check, a web page could fly the vehicle with an HTTP request whose body is a command (docs/contract/edge.md#relay). A peer that
 * starts with an HTTP method, a TLS hello or 512 bytes without a frame is rejected.
 */
export class Newcomer {
  readonly #peer: RoutedPeer;
  #opening = '';
  #left = MAX_PRELUDE_BYTES;

  constructor(peer: RoutedPeer) {
    this.#peer = peer;
  }

  /** @returns what it speaks instead of MAVLink, for the log; null while it may be MAVLink. The caller drops the peer then. */
  push(bytes: Buffer): string | null {
    if (this.#peer.frames > 0) {
      this.#peer.push(bytes);
      return null;
    }
    if (this.#opening.length < OPENING_BYTES) {
      this.#opening += bytes.toString('latin1', 0, OPENING_BYTES - this.#opening.length);
      if (HTTP_METHOD.test(this.#opening)) return 'HTTP';
      if (this.#opening.startsWith(TLS_HELLO)) return 'TLS';
    }
    const prelude = bytes.subarray(0, this.#left);
    this.#left -= prelude.length;
    this.#peer.push(prelude);
    const rest = bytes.subarray(prelude.length);
    if (this.#peer.frames === 0) return rest.length > 0 ? `no MAVLink in ${MAX_PRELUDE_BYTES} bytes` : null;
    if (rest.length > 0) this.#peer.push(rest);
    return null;
  }
}
