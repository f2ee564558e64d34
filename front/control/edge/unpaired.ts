import { type AddressClass, isLifeline } from '../../../shared/auth/address.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { hostName } from '../../../shared/http/edge/head.ts';
import { oneSpelling } from './own-names.ts';

/**
 * What an unpaired node lets in (docs/contract/edge.md#unpaired-gate). There is no key yet, so only the caller's location counts, and a
 * browser must not get here by a host name that an attacker controls.
 */
export type Gate = 'pass' | 'session-needed' | 'remote';

export function unpairedGate(address: AddressClass): Gate {
  if (isLifeline(address)) return 'pass';
  return address === 'lan' ? 'session-needed' : 'remote';
}

const GATE_ID = 'unpaired:';

/** Who asks from a place that the gate knows, before there is a key. */
export function gateCaller(where: AddressClass): Principal {
  return { kind: 'gate', id: `${GATE_ID}${where}`, scopes: null };
}

/** How a caller is let in, as `pairing/info` tells it, so that a page need not try and be refused. */
export function entryOf({ kind, id }: Principal, paired: boolean): 'open' | 'credential' | 'nearer' {
  if (kind === 'anonymous') return paired ? 'credential' : 'nearer';
  return kind === 'gate' && unpairedGate(id.slice(GATE_ID.length) as AddressClass) !== 'pass'
    ? 'credential'
    : 'open';
}

/**
 * A Host that cannot be a rebound name: localhost, or an address or a name of this node. An attacker's page on
 * `evil.example` that is pointed at the node by DNS still sends `Host: evil.example`, and so does one on `evil.local`.
 * @param own the node's addresses, each in one spelling, and its names
 */
export function isOwnHost(host: string | null, own: Pick<ReadonlySet<string>, 'has'>): boolean {
  const name = host === null ? null : hostName(host);
  if (name === null) return false;
  return name === 'localhost' || own.has(oneSpelling(name));
}
