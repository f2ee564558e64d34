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
  /** Hex SHA-256 of the body; of no bytes where there is none. */
  readonly bodyHash: string;
}

/** What the HMAC is taken over: every field that matters, each on its own line. */
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
   * @param secret the agreed secret, null while no radio pair is bound: no ticket is valid then
   * @param now wall clock, ms
   */
  constructor(secret: () => Buffer | null, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** Whose ticket this is, or null. Says the same again for the same ticket until `use` was called. */
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

  /** Spends the ticket that `check` found valid. */
  use(ticket: string): void {
    const [, groundId = '', , nonce = ''] = ticket.split('|');
    const now = this.#now();
    for (const [key, at] of this.#used) {
      // Twice the life: a ticket may be issued by a clock that is ahead of ours.
      if (now - at <= 2 * LIFE_S * 1000 && this.#used.size < MAX_NONCES) break;
      this.#used.delete(key);
    }
    this.#used.set(`${groundId}|${nonce}`, now);
  }
}
