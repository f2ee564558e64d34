import type { IncomingMessage } from 'node:http';
import { Denial } from './denial.ts';
import type { Plane } from './planes/plane.ts';
import { type Principal, readToken } from './principal.ts';
import { asRecord } from './tools/tool.ts';

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

export class BearerAuth {
  readonly #plane: Plane;
  readonly #now: () => number;
  readonly #known = new Map<string, number>();

  /** @param now Unix time, ms */
  constructor(plane: Plane, now: () => number) {
    this.#plane = plane;
    this.#now = now;
  }

  /** @throws Denial unauthorized, token_invalid, token_expired, token_revoked, rest_down */
  async authenticate(req: IncomingMessage): Promise<Principal> {
    const [, token] = /^Bearer ([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(req.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new Denial('unauthorized', 'Send a scoped token: Authorization: Bearer …');
    return this.verify(token);
  }

  /** @throws Denial as `authenticate` */
  async verify(token: string): Promise<Principal> {
    const principal = readToken(token, this.#now());
    const until = this.#known.get(token);
    if (until !== undefined && until > this.#now()) return principal;
    this.#known.delete(token);
    await this.#probe(principal);
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
    const get = async (path: string): Promise<unknown> =>
      node.json({ method: 'GET', path, timeoutMs: PROBE_MS }, principal);
    const accepted = get('/api/status').catch((error: unknown) => {
      // A token without `read` is valid too: the node verifies it before it checks scopes.
      if (!(error instanceof Denial) || error.reason !== 'scope_missing') throw error;
    });
    const [info] = await Promise.all([get('/api/pairing/info'), accepted]);
    if (asRecord(info)['paired'] !== true)
      throw new Denial('token_invalid', 'The node is not paired, so no token is valid there. Pair it first.');
  }
}
