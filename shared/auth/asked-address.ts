import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { classifyAddress, plainAddress } from './address.ts';

/** Where the node may be sent by who writes a host or an address into its configuration, or into an offer. */

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

/** Whether it is nobody's, everybody's, or that of a cloud's service for its machines. @param address an IP address */
export function leadsNowhere(address: string): boolean {
  const plain = plainAddress(address);
  return NOWHERE.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
}

/**
 * What a source may not lead to: what is on the same cable (there, clouds have the keys of the machine), nobody or everybody, and
 * this machine unless it was named. Networks of one's own are allowed: a tile server may stand there.
 * @param address an IP address @param isLocal this machine was named
 * @throws Error
 */
export function refuseForbidden(address: string, isLocal: boolean): void {
  const kind = kindOf(address);
  if (kind === 'link-local' || leadsNowhere(address) || (kind === 'loopback' && !isLocal))
    throw new Error('its host leads to an address that is not asked for tiles');
}

/** Whether it is this machine, on the same cable, or nowhere: only what is listed may lead there. @param host a name or an address */
export function isNear(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(plain) === 0) return /(?:^|\.)localhost\.?$/.test(plain);
  const kind = kindOf(plain);
  return kind === 'loopback' || kind === 'link-local' || leadsNowhere(plain);
}

/** The key of the configuration with the hosts for which that is wanted. */
const NEAR_HOSTS = 'security.near_hosts';

/** Why the node does not go there; null where it may. @param listed the hosts of NEAR_HOSTS */
export function nearRefusal(host: string, listed: readonly string[], address = host): string | null {
  const names = [host, address].map((each) => each.replace(/^\[|\]$/g, '').toLowerCase());
  if (!isNear(address) || listed.some((each) => names.includes(each.toLowerCase()))) return null;
  const leads = host === address ? `${host} is` : `${host} leads to ${address}, which is`;
  return `${leads} an address of this machine or its own cable: who has the pairing key may list it in ${NEAR_HOSTS}`;
}

/** Looks a name up, and judges every address that it leads to at the moment of the connection. @param refuse throws */
export function guardedLookup(refuse: (address: string, hostname: string) => void): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      try {
        if (error !== null) throw error;
        for (const { address } of found) refuse(address, hostname);
      } catch (failure) {
        done(failure instanceof Error ? failure : new Error('no address'), [], 0);
        return;
      }
      const [first] = found;
      if (options.all === true || first === undefined) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}

/** A connection's `lookup`, for hosts that the configuration names. @throws Error for an address that needs no lookup */
export function nearGuard(host: string, listed: readonly string[]): LookupFunction {
  const refuse = (address: string, name: string): void => {
    const reason = nearRefusal(name, listed, address);
    if (reason !== null) throw new Error(reason);
  };
  const plain = host.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) refuse(plain, plain);
  return guardedLookup(refuse);
}
