import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Denial } from './denial.ts';
import { askOf } from './planes/ask.ts';
import type { HubSession } from './planes/hub-session.ts';
import type { Plane } from './planes/plane.ts';
import { expiryOf, type Principal, readToken } from './principal.ts';

/**
 * Finds the principal of a bearer token. The token's own node verifies it, and the result is cached for two seconds. Each later
 * call sends the token again, so that a revocation takes effect at the next call.
 *
 * An unpaired node lets callers in by where they are, whatever they send, so its answer says nothing about a token; without a
 * pairing key there is no valid one.
 */

const BELIEVED_MS = 2000;
const MAX_KNOWN = 256;
const PROBE_MS = 3000;

/** Who a caller over HTTP is, and whether one who came in earlier still is. */
export interface Authenticator {
  /** @throws Denial */
  authenticate(req: IncomingMessage): Promise<Principal>;
  /** @throws Denial */
  confirm(principal: Principal): Promise<void>;
}

export class BearerAuth implements Authenticator {
  readonly #plane: Plane;
  readonly #now: () => number;
  readonly #wall: () => number;
  readonly #known = new Map<string, number>();

  /** @param now monotonic, ms @param wall Unix time, ms */
  constructor(plane: Plane, now: () => number, wall: () => number) {
    this.#plane = plane;
    this.#now = now;
    this.#wall = wall;
  }

  /** @throws Denial unauthorized, token_invalid, token_expired, token_revoked, rest_down */
  async authenticate(req: IncomingMessage): Promise<Principal> {
    return this.verify(bearerOf(req, 'a scoped token'));
  }

  /** @throws Denial as `authenticate` */
  async verify(token: string): Promise<Principal> {
    const principal = readToken(token);
    const until = this.#known.get(token);
    if (until !== undefined && until > this.#now()) return principal;
    this.#known.delete(token);
    await this.#probe(principal).catch((error: unknown) => {
      const isRefused = error instanceof Denial && error.reason === 'token_revoked';
      throw isRefused && expiryOf(token) <= this.#wall() ? new Denial('token_expired') : error;
    });
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(token, this.#now() + BELIEVED_MS);
    return principal;
  }

  /** For a caller that came in earlier: its token is still valid. Others have none. @throws Denial as `authenticate` */
  async confirm({ token }: Principal): Promise<void> {
    if (token !== null) await this.verify(token);
  }

  async #probe(principal: Principal): Promise<void> {
    const { nodes } = this.#plane;
    const own = nodes.find(({ target }) => target.id === principal.deviceId);
    const node = own ?? (nodes.length === 1 ? nodes[0] : undefined);
    if (node === undefined)
      throw new Denial('token_invalid', 'The token belongs to a node that this connector does not serve.');
    const ask = askOf(node, principal);
    const said = { timeoutMs: PROBE_MS };
    const accepted = ask('status.get', said).catch((error: unknown) => {
      // A token without `read` is valid too: the node verifies it before it checks scopes.
      if (!(error instanceof Denial) || error.reason !== 'scope_missing') throw error;
    });
    const [{ paired }] = await Promise.all([ask('pairing.info.get', said), accepted]);
    if (paired !== true)
      throw new Denial('token_invalid', 'The node is not paired, so no token is valid there. Pair it first.');
  }
}

/** In a fleet a caller has the machine credential of the connector, or none. */
export class MachineAuth implements Authenticator {
  readonly #session: HubSession;
  readonly #hash: Buffer;

  constructor(session: HubSession, credential: string) {
    this.#session = session;
    this.#hash = sha256(credential);
  }

  /** @throws Denial unauthorized, token_revoked, token_expired */
  async authenticate(req: IncomingMessage): Promise<Principal> {
    if (!timingSafeEqual(sha256(bearerOf(req, 'the machine credential')), this.#hash))
      throw new Denial('unauthorized', 'This is not the machine credential of this connector.');
    await this.#session.confirm();
    return this.#session.principal;
  }

  async confirm(): Promise<void> {
    await this.#session.confirm();
  }
}

/** @throws Denial unauthorized */
export function bearerOf({ headers, rawHeaders }: IncomingMessage, what: string): string {
  // Node keeps the first of several.
  if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization').length > 1)
    throw new Denial('unauthorized', 'Send one Authorization header.');
  const [, token] = /^Bearer ([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw new Denial('unauthorized', `Send ${what}: Authorization: Bearer …`);
  return token;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
