import { BlockList, isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { plainAddress } from '../../../shared/auth/address.ts';
import { oneSpelling } from '../edge/own-names.ts';

/** The only networks that a node's authority may vouch for (docs/contract/credentials.md#https): private, link-local and loopback. */
export const PERMITTED_NETWORKS = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '127.0.0.0/8',
  'fc00::/7',
  'fe80::/10',
  '::1/128',
] as const;

/** A machine with hundreds of bridges still has a certificate of a few kilobytes. */
const MAX_ADDRESSES = 32;
const ALWAYS = ['localhost', '127.0.0.1', '::1'] as const;

const permitted = new BlockList();
for (const network of PERMITTED_NETWORKS) {
  const [address = '', prefix] = network.split('/');
  permitted.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** A host name below `.local`, as mDNS answers it. */
export function isLocalName(name: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?<!-)\.local$/.test(name);
}

/**
 * What the certificate of the node is for: its names, and the addresses that it has at the moment.
 * @param names host names below `.local`
 */
export function leafNames(
  names: readonly string[],
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>,
): readonly string[] {
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .map(({ address }) => oneSpelling(plainAddress(address).toLowerCase()))
    .filter((address) => permitted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
  return [...new Set([...names, ...ALWAYS, ...addresses.toSorted().slice(0, MAX_ADDRESSES)])];
}

/** The names in a certificate, as Node writes them (`DNS:a, IP Address:b`), each in one spelling. */
export function namesIn(subjectAltName: string | undefined): readonly string[] {
  return (subjectAltName ?? '')
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? [])
    .map((name) => oneSpelling(name.toLowerCase()));
}
