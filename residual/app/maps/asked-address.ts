import { BlockList, isIP } from 'node:net';
import { classifyAddress, plainAddress } from '../../../shared/auth/address.ts';

const NOWHERE = new BlockList();
NOWHERE.addSubnet('0.0.0.0', 8, 'ipv4');
NOWHERE.addSubnet('224.0.0.0', 3, 'ipv4');
NOWHERE.addAddress('::', 'ipv6');
NOWHERE.addSubnet('ff00::', 8, 'ipv6');
// The metadata services of clouds; the second is 169.254.0.0/16 through NAT64.
NOWHERE.addAddress('fd00:ec2::254', 'ipv6');
NOWHERE.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');

/** Only who writes this machine's own address into the config asks this machine. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && kindOf(host) === 'loopback');
}

function kindOf(address: string): ReturnType<typeof classifyAddress> {
  return classifyAddress(address, { local: undefined, isRoutable: () => false });
}

/**
 * What a source may not lead to: what is on the same cable (there, clouds have the keys of the machine), nobody or everybody, and
 * this machine unless it was named. Networks of one's own are allowed: a tile server may stand there.
 * @param address an IP address @param isLocal this machine was named
 * @throws Error
 */
export function refuseForbidden(address: string, isLocal: boolean): void {
  const plain = plainAddress(address);
  const kind = kindOf(plain);
  const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
  if (kind === 'link-local' || NOWHERE.check(plain, family) || (kind === 'loopback' && !isLocal))
    throw new Error('its host leads to an address that is not asked for tiles');
}
