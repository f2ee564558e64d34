import { type AddressClass, isLifeline } from '../../shared/auth/address.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import type { Feature } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';

/**
 * What a caller should get, written down a second time from the words of docs/contract.md, without looking at decide(): the
 * matrix tests hold the two against each other. Profile drone, vehicle disarmed, no body.
 */

export const CREDENTIALS = [
  'none',
  'wrong key',
  'key',
  'session',
  'ticket',
  'read ticket',
  'relay',
  'onbox',
  'expired token',
  'revoked token',
  ...SCOPES.map((scope) => `token:${scope}` as const),
] as const;
export type Credential = (typeof CREDENTIALS)[number];

export const ADDRESSES: readonly AddressClass[] = [
  'loopback',
  'link-local',
  'hotspot',
  'usb',
  'lan',
  'remote',
];

export interface Situation {
  readonly row: Row;
  readonly credential: Credential;
  readonly from: AddressClass;
  readonly paired: boolean;
  readonly features: ReadonlySet<Feature>;
}

/** `pass`, or the code of the refusal. */
export function oracle({ row, credential, from, paired, features }: Situation): string {
  const relayed = credential === 'relay';
  if (relayed && row.relay === 'forbid') return 'E_RELAY_FORBIDDEN';
  // A ground station always hears that the drone has no owner.
  if (relayed && !paired) return 'E_UNPAIRED';
  // Its requests are in the clear.
  if (row.tlsOnly && from !== 'loopback') return 'E_TLS_REQUIRED';
  // Whoever comes through a relay is not where his TCP peer is.
  const where = relayed ? 'remote' : from;
  const inside =
    row.built && row.profiles !== 'G' && features.has(row.feature) ? 'pass' : 'E_NOT_IMPLEMENTED';
  if (row.orKey && credential === 'wrong key') return 'E_UNAUTHENTICATED';
  if (row.orKey && credential === 'key') return paired ? inside : 'E_UNAUTHENTICATED';
  if (row.access === 'public') return row.nearOnly && where === 'remote' ? 'E_REMOTE' : inside;
  if (!paired) return unpaired(row, credential, where, inside);
  if (credential === 'key' || relayed) return inside;
  if (credential === 'session') return row.access === 'keyonly' ? 'E_SCOPE' : inside;
  if (credential === 'ticket') return row.access === 'ws' ? inside : 'E_UNAUTHENTICATED';
  if (credential === 'read ticket') return row.readTicket === null ? 'E_UNAUTHENTICATED' : inside;
  if (credential === 'onbox') return row.onBox && from === 'loopback' ? inside : 'E_UNAUTHENTICATED';
  if (!credential.startsWith('token:')) return 'E_UNAUTHENTICATED';
  const scope = credential.slice('token:'.length);
  // The rows name parameter x1, which is not among the harmless ones: it needs flight besides.
  const ofParameter = row.names.some((each) => each.kind === 'parameter' && each.in === 'path');
  return row.scope === scope && !ofParameter ? inside : 'E_SCOPE';
}

function unpaired(row: Row, credential: Credential, where: AddressClass, inside: string): string {
  if (isLifeline(where)) return row.access === 'keyonly' && where !== 'loopback' ? 'E_UNPAIRED' : inside;
  if (where === 'remote') return 'E_REMOTE';
  return credential === 'session' && row.access !== 'keyonly' ? inside : 'E_UNPAIRED';
}
