import { isLifeline } from '../../../../shared/auth/address.ts';
import { hostName } from '../../../../shared/http/edge/head.ts';
import { type Decision, refuse } from '../decision.ts';
import { standing } from '../standing.ts';
import { isOwnHost } from '../unpaired.ts';
import type { Ask } from './ask.ts';

/** What a browser asks for when somebody types the node's address. */
const PAGE: ReadonlySet<string> = new Set(['root.get', 'assets.path.get']);
const NOT_SERVED =
  'This node takes requests from other machines by HTTPS alone, and HTTPS is not running. Its log says why.';

/**
 * `security.require_tls`, and rows that are so on every node: whoever is not on this machine comes by TLS. The listeners of the relay
 * and of the fleet are encrypted themselves; who sets up a node without an owner on its own hotspot or cable has nothing to trust yet.
 */
export function overTls({ request, headers, found, state, cors }: Ask): Decision | null {
  const { peer, method, target, upgrade } = request;
  const { required, port } = state.tls;
  const { row } = found;
  const tlsOnly = row?.tlsOnly === true;
  if (!(required || tlsOnly) || peer.secure || peer.kind !== 'tcp' || peer.address === 'loopback')
    return null;
  if (!tlsOnly && !state.pairing.paired && isLifeline(standing(peer, headers))) return null;
  const page = (method === 'GET' || method === 'HEAD') && !upgrade && row !== null && PAGE.has(row.id);
  const name = headers.host === null ? null : hostName(headers.host);
  // Never to a name that is not this node's: whoever sent the request there may own it.
  if (page && port !== null && name !== null && isOwnHost(headers.host, state.hosts)) {
    const host = name.includes(':') ? `[${name}]` : name;
    return Object.freeze({
      kind: 'redirect',
      rule: 'tls',
      status: 308,
      location: `https://${host}:${port}${target}`,
    });
  }
  return refuse('tls', 'E_TLS_REQUIRED', cors, {
    row,
    ...(port === null ? { detail: NOT_SERVED } : {}),
    extras: { tls_port: port },
  });
}
