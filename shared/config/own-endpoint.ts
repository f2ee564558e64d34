import { hostname, networkInterfaces } from 'node:os';
import type { MavlinkEndpoint, MavlinkSource } from '../schemas/addresses.ts';

const EVERY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Names and addresses of this machine, lower case. */
export function ownHosts(): ReadonlySet<string> {
  const own = new Set([...EVERY, 'localhost', hostname().toLowerCase()]);
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address } of addresses ?? []) own.add(address.toLowerCase());
  }
  return own;
}

/** Whether it is one of `own`, or loopback. */
export function isOwnHost(host: string, own: ReadonlySet<string>): boolean {
  return own.has(host.toLowerCase()) || host.startsWith('127.');
}

/**
 * The node's own endpoint that `source` leads to, null if there is none: the node would talk to itself, and use the port that a
 * simulated vehicle needs. Loops that the addresses do not show (a relay, a DNS name) are found by the router's loop guard.
 */
export function ownEndpointOf(
  source: MavlinkSource,
  endpoints: readonly MavlinkEndpoint[],
  own: ReadonlySet<string>,
): MavlinkEndpoint | null {
  if (source.kind === 'serial' || source.kind === 'auto' || source.kind === 'sim') return null;
  const isOwn = (host: string): boolean => isOwnHost(host, own);
  const meets = (endpoint: MavlinkEndpoint): boolean => {
    if (endpoint.port !== source.port) return false;
    if (source.kind === 'udp') return endpoint.kind === 'udpout' && isOwn(endpoint.host);
    const listener = source.kind === 'tcp' ? 'tcp' : 'udp';
    if (endpoint.kind !== listener || !isOwn(source.host)) return false;
    const same = endpoint.host.toLowerCase() === source.host.toLowerCase();
    return same || EVERY.has(endpoint.host) || endpoint.host === 'localhost' || source.host === 'localhost';
  };
  return endpoints.find(meets) ?? null;
}

/** The text in `mavlink.endpoints`, without the override. */
export function endpointName({ kind, host, port }: MavlinkEndpoint): string {
  return `${kind}:${host}:${port}`;
}
