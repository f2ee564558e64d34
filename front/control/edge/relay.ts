import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../../shared/auth/principal.ts';

/**
 * The ticket with which a ground station vouches for a request that it relays over the radio (docs/contract.md 5):
 *   x-svc-relay-ticket: v1|<ground id>|<issued s>|<nonce>|<hex HMAC-SHA256>
 * over method, path and the SHA-256 of the body, keyed by the secret agreed when the radio pair was bound. 30 s, once.
 */

const LIFE_S = 30;
const MAX_NONCES = 4096;

export interface RelayedRequest {
  readonly method: string;
  readonly target: string;
  /** Hex SHA-256 of the body; of the empty string if there is no body. */
  readonly bodyHash: string;
}

/** The text that the HMAC covers: every field that matters, each on its own line. */
function signedText(groundId: string, issued: string, nonce: string, request: RelayedRequest): string {
  return ['v1', groundId, issued, nonce, request.method, request.target, request.bodyHash].join('\n');
}

/** @param issuedS wall clock, s since 1970 */
export function signRelayTicket(
  secret: Buffer,
  groundId: string,
  issuedS: number,
  nonce: string,
  request: RelayedRequest,
): string {
  const mac = createHmac('sha256', secret)
    .update(signedText(groundId, String(issuedS), nonce, request))
    .digest('hex');
  return `v1|${groundId}|${issuedS}|${nonce}|${mac}`;
}

/** Verifies tickets and remembers their nonces for as long as they could be used again. */
export class RelayTickets {
  readonly #secret: () => Buffer | null;
  readonly #now: () => number;
  readonly #used = new Map<string, number>();

  /**
   * @param secret the agreed secret, null while no radio pair is bound; then no ticket is valid
   * @param now wall clock, ms
   */
  constructor(secret: () => Buffer | null, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** The principal of a valid ticket, or null. A ticket stays valid until `use` is called. */
  check(ticket: string, request: RelayedRequest): Principal | null {
    const secret = this.#secret();
    const [version, groundId = '', issued = '', nonce = '', mac = '', ...more] = ticket.split('|');
    if (secret === null || version !== 'v1' || more.length > 0) return null;
    if (
      !/^[A-Za-z0-9._-]{1,64}$/.test(groundId) ||
      !/^\d{1,12}$/.test(issued) ||
      !/^[A-Za-z0-9_-]{8,64}$/.test(nonce)
    )
      return null;
    if (Math.abs(this.#now() / 1000 - Number(issued)) > LIFE_S) return null;
    const expected = createHmac('sha256', secret)
      .update(signedText(groundId, issued, nonce, request))
      .digest();
    const offered = Buffer.from(mac, 'hex');
    if (offered.length !== expected.length || !timingSafeEqual(offered, expected)) return null;
    if (this.#used.has(`${groundId}|${nonce}`)) return null;
    return { kind: 'relay', id: `relay:${groundId}`, scopes: null };
  }

  /** Uses up a ticket that `check` found valid. */
  use(ticket: string): void {
    const [, groundId = '', , nonce = ''] = ticket.split('|');
    const now = this.#now();
    for (const [key, at] of this.#used) {
      // Twice the lifetime: the clock that issued the ticket may be ahead of ours.
      if (now - at <= 2 * LIFE_S * 1000 && this.#used.size < MAX_NONCES) break;
      this.#used.delete(key);
    }
    this.#used.set(`${groundId}|${nonce}`, now);
  }
}
