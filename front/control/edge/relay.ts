/**
 * How a ground station states its caller to the drone, on their TLS connection through the tunnel (docs/contract/ground.md#relay):
 *   x-svc-relay-caller: <kind> <id> <scopes>
 * with the id percent-encoded, and scopes separated by `+`, or `*` for a caller that has no scopes to check. It is believed on
 * the relay's listener alone, where the peer has proved by its pre-shared key that it is the bound ground station.
 */
import { PRINCIPAL_KINDS, type Principal, type PrincipalKind } from '../../../shared/auth/principal.ts';
import { isScope } from '../../../shared/auth/scopes.ts';

export const RELAY_CALLER_HEADER = 'x-svc-relay-caller';

const STATEMENT = /^([a-z]{1,16}) ([A-Za-z0-9._~%:-]{1,256}) (\*|[a-z_]+(?:\+[a-z_]+){0,5})$/;
/** Whoever is not authenticated at the ground station, is itself relayed or of the fleet there, or is no person's client. */
const NOT_STATED: ReadonlySet<PrincipalKind> = new Set<PrincipalKind>([
  'anonymous',
  'relay',
  'fleet',
  'extension',
]);

/** @returns null for a caller that is not relayed */
export function stateCaller({ kind, id, scopes }: Principal): string | null {
  if (NOT_STATED.has(kind)) return null;
  return `${kind} ${encodeURIComponent(id)} ${scopes === null ? '*' : scopes.join('+')}`;
}

/**
 * The principal that a ground station states; its id names both.
 * @param ground the id of the ground station
 * @returns null for anything else than one well-formed statement
 */
export function statedCaller(ground: string, statement: string | null): Principal | null {
  const match = statement === null ? null : STATEMENT.exec(statement);
  const [, kind, encoded = '', scopeText = ''] = match ?? [];
  const stated = PRINCIPAL_KINDS.find((known) => known === kind);
  if (stated === undefined || NOT_STATED.has(stated)) return null;
  const id = decoded(encoded);
  const scopes = scopeText === '*' ? null : scopeText.split('+');
  if (id === null || scopes?.every(isScope) === false) return null;
  // Only a token, or a ticket that a token asked for, has scopes; a token without them would have every right.
  if (stated === 'token' && scopes === null) return null;
  return Object.freeze({
    kind: 'relay',
    id: `${relayPrefix(ground)}${id}`,
    scopes: scopes === null ? null : scopes.filter(isScope),
    stated,
  });
}

function relayPrefix(ground: string): string {
  return `relay:${ground}/`;
}

/** The ground station in the id of a relayed principal; null for any other. */
export function groundOf(id: string): string | null {
  return /^relay:([^/]+)\//.exec(id)?.[1] ?? null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // not percent-encoded as UTF-8
  }
}
