import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

/** A network that this machine is on, and its own addresses there. */
export interface Link {
  readonly name: string;
  /** At least one of either. */
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  /** Whether that is the address of one machine of this link, by IPv4: RFC 6762, 11 asks that of whoever is listened to. */
  readonly holds: (address: string) => boolean;
  /** Changes with any of these. */
  readonly key: string;
}

const MAX_LINKS = 16;
/** Of a tunnel, which has no neighbours. */
const NO_MAC = '00:00:00:00:00:00';

/** @param interfaces as `os.networkInterfaces()` has them */
export function linksOf(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): readonly Link[] {
  const links = Object.entries(interfaces).flatMap(([name, all = []]): Link[] => {
    const own = all.filter(({ internal, mac }) => !internal && mac !== NO_MAC);
    const subnets = own.flatMap(({ family, address, cidr }) =>
      family === 'IPv4' ? { at: numberOf(address), size: 2 ** (32 - Number(cidr?.split('/')[1] ?? 32)) } : [],
    );
    const of = (wanted: string): readonly string[] =>
      own.filter(({ family }) => family === wanted).map(({ address }) => address);
    const [v4, v6] = [of('IPv4'), of('IPv6')];
    if (v4.length === 0 && v6.length === 0) return [];
    const holds = (address: string): boolean =>
      isIPv4(address) && subnets.some((subnet) => isOneMachine(numberOf(address), subnet));
    return [{ name, v4, v6, holds, key: JSON.stringify([name, own.map(({ cidr }) => cidr)]) }];
  });
  return links.slice(0, MAX_LINKS);
}

/** Its first and last addresses are the subnet's own, except of two machines or one. */
function isOneMachine(
  address: number,
  { at, size }: { readonly at: number; readonly size: number },
): boolean {
  const host = address % size;
  return address - host === at - (at % size) && (size <= 2 || (host !== 0 && host !== size - 1));
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
