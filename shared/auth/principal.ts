import type { Scope } from './scopes.ts';

/**
 * Who a request acts for, once the edge has decided.
 *   anonymous  a public row was asked for, nobody was authenticated
 *   key        the pairing key
 *   local      the Unix socket control.sock, whose file mode is the credential
 *   onbox      a trusted process on this machine, by its socket's user, on rows that grant it
 *   gate       let in by the unpaired gate, before there is a key
 *   session    a dashboard session;  ticket  a WebSocket ticket;  token  a scoped token
 *   relay      a caller of a ground station, which vouches for it through the radio link
 *   fleet      a caller of the fleet, by its signed call
 *   extension  an extension of this node, for which svc-residual asks on control.sock after it has looked up the grant
 */
export const PRINCIPAL_KINDS = [
  'anonymous',
  'key',
  'local',
  'onbox',
  'gate',
  'session',
  'ticket',
  'token',
  'relay',
  'fleet',
  'extension',
] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

export interface Principal {
  readonly kind: PrincipalKind;
  /** What to write in logs: never a secret. */
  readonly id: string;
  /** Granted scopes of a token; null for every other kind, which has no scope check. */
  readonly scopes: readonly Scope[] | null;
  /** Of kind `relay`: what the ground station says that its caller is. */
  readonly stated?: PrincipalKind;
  /** Of kind `fleet`: scopes that it would have, had a person confirmed this call. */
  readonly confirmable?: readonly Scope[];
  /** Of kind `fleet`: what its credential holds, and what `fleet.scopes` of this node lets the fleet have. */
  readonly cap?: { readonly held: readonly Scope[]; readonly local: readonly string[] };
}

export const ANONYMOUS: Principal = Object.freeze({ kind: 'anonymous', id: 'anonymous', scopes: null });
export const PAIRING_KEY: Principal = Object.freeze({ kind: 'key', id: 'pairing-key', scopes: null });
export const LOCAL_SOCKET: Principal = Object.freeze({ kind: 'local', id: 'control-socket', scopes: null });

/** On control.sock: the request is an extension's, whose id this is, and has its rights only. It means nothing elsewhere. */
export const EXTENSION_HEADER = 'x-svc-extension';
