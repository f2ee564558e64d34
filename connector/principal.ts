import { isScope, SCOPES, type Scope } from '../shared/auth/scopes.ts';
import { isObject, type JsonObject, parseJson } from '../shared/member.ts';
import { Denial } from './denial.ts';

/**
 * On whose behalf a call is made (docs/contract/connector.md).
 *   token   a scoped token of a node; what it may do is the node's decision, each time
 *   stdio   whoever launched the connector: every scope but flight and destructive
 *   socket  whoever can open the Unix socket: no scope check, but every gate
 *   machine whoever uses a connector of a fleet: what its machine credential may do; the nodes decide, each time
 */
export interface Principal {
  readonly kind: 'token' | 'stdio' | 'socket' | 'machine';
  /** For the audit and the rate limits; never a secret. */
  readonly id: string;
  readonly operatorId: string;
  /** Null for the socket, which has no scope check. */
  readonly scopes: readonly Scope[] | null;
  /** Sent to the node instead of the pairing key; only for `token`. */
  readonly token: string | null;
  /** The device that the token belongs to; null if it may be any. */
  readonly deviceId: string | null;
}

export const STDIO: Principal = {
  kind: 'stdio',
  id: 'stdio',
  operatorId: 'local',
  scopes: SCOPES.filter((scope) => scope !== 'flight' && scope !== 'destructive'),
  token: null,
  deviceId: null,
};

export const SOCKET: Principal = {
  kind: 'socket',
  id: 'socket',
  operatorId: 'local',
  scopes: null,
  token: null,
  deviceId: null,
};

/**
 * On whose behalf the connector asks a node for itself: with the node's pairing key, else with the token that it was launched
 * with; never with a caller's.
 */
export function ownPrincipal(key: string | null, launched: Principal | null): Principal {
  return key === null && launched !== null ? launched : STDIO;
}

const MAX_TOKEN_CHARS = 8192;

/**
 * The claims of a token, not verified. They are only used to refuse a call early, without a request to the node; the node
 * verifies the token, and alone knows whether it has lived its time: clocks are set.
 * @throws Denial token_invalid
 */
export function readToken(token: string): Principal {
  const claims = parse(token);
  const { tokenId, operatorId, iss, scopes, expiresAt } = claims;
  if (
    typeof tokenId !== 'string' ||
    typeof operatorId !== 'string' ||
    typeof iss !== 'string' ||
    !Array.isArray(scopes) ||
    !scopes.every(isScope) ||
    typeof expiresAt !== 'number'
  )
    throw new Denial('token_invalid');
  const [, deviceId = null] = /^agent:(.+)$/.exec(iss) ?? [];
  if (deviceId === null) throw new Denial('token_invalid', 'The token is not one that a node has minted.');
  return { kind: 'token', id: tokenId, operatorId, scopes, token, deviceId };
}

/** When the token says that it ends, ms since 1970 by the clock that minted it. @throws Denial token_invalid */
export function expiryOf(token: string): number {
  return Number(parse(token)['expiresAt']);
}

function parse(token: string): JsonObject {
  const dot = token.lastIndexOf('.');
  if (dot < 1 || token.length > MAX_TOKEN_CHARS) throw new Denial('token_invalid');
  try {
    const value: unknown = parseJson(Buffer.from(token.slice(0, dot), 'base64url').toString('utf8'));
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Denial('token_invalid');
}
