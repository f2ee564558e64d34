import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Where a TCP peer is, seen from this node (docs/contract/edge.md#unpaired-gate). `loopback`, `link-local`, `hotspot` and `usb` are the
 * first-boot links; `lan` is the operator's LAN; everything else is `remote`.
 */
export type AddressClass = 'loopback' | 'link-local' | 'hotspot' | 'usb' | 'lan' | 'remote';

type Net = readonly [address: string, prefix: number];

const NETS: ReadonlyArray<readonly [AddressClass, readonly Net[]]> = [
  [
    'loopback',
    [
      ['127.0.0.0', 8],
      ['::1', 128],
    ],
  ],
  [
    'link-local',
    [
      ['169.254.0.0', 16],
      ['fe80::', 10],
    ],
  ],
  [
    'lan',
    [
      ['10.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['fc00::', 7],
    ],
  ],
];

const LISTS = NETS.map(([name, nets]) => {
  const list = new BlockList();
  for (const [address, prefix] of nets)
    list.addSubnet(address, prefix, address.includes(':') ? 'ipv6' : 'ipv4');
  return [name, list] as const;
});

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The address without zone and with an IPv4-mapped IPv6 address written as its IPv4. */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '');
  return MAPPED.exec(bare)?.[1] ?? bare;
}

/** The networks that this node itself provides, by its own address there, since other networks use the same ranges. */
export const OWN_ADDRESS = { hotspot: '192.168.4.1', usb: '192.168.7.1' } as const;
const OWN_NETS: ReadonlyArray<readonly [AddressClass, own: string, prefix: string]> = [
  ['hotspot', OWN_ADDRESS.hotspot, '192.168.4.'],
  ['usb', OWN_ADDRESS.usb, '192.168.7.'],
];

/** Where the page of the set-up is, for somebody on that network. */
export function setupUrl(network: keyof typeof OWN_ADDRESS, port: number): string {
  return `http://${OWN_ADDRESS[network]}${port === 80 ? '' : `:${port}`}/setup`;
}

export interface Near {
  /** The socket's own address. */
  readonly local: string | undefined;
  /** Whether the interface with this address also has one that is not link-local; only called for a link-local peer. */
  readonly isRoutable: (local: string) => boolean;
}

/** @param address as the socket gives it; anything that is not an IP address is `remote` */
export function classifyAddress(address: string | undefined, near: Near): AddressClass {
  if (address === undefined) return 'remote';
  const plain = plainAddress(address);
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) ? 'ipv6' : null;
  if (family === null) return 'remote';
  const local = near.local === undefined ? '' : plainAddress(near.local);
  for (const [name, own, prefix] of OWN_NETS) if (local === own && plain.startsWith(prefix)) return name;
  for (const [name, list] of LISTS) {
    if (!list.check(plain, family)) continue;
    // On a direct cable the interface has no other address; on a network it has one.
    return name === 'link-local' && near.isRoutable(local) ? 'remote' : name;
  }
  return 'remote';
}

export function isLifeline(address: AddressClass): boolean {
  return address !== 'lan' && address !== 'remote';
}

/**
 * The key under which an address is counted: the address for IPv4; the /64 for IPv6, since one host may have any number of
 * addresses. @param address as from `plainAddress`; a text that is not an IP address is returned unchanged
 */
export function peerKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 at the end stands for two groups.
  const groups = left.length + right.length + (address.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups }, () => '0');
  const network = [...left, ...zeros, ...right].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
