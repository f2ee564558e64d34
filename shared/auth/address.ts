import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Where a TCP peer stands towards this node (spec/decisions.md 4.6). `loopback`, `link-local`, `hotspot` and `usb` are
 * the first-boot lifelines; `lan` is the operator's LAN; everything else is `remote`.
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
  ['hotspot', [['192.168.4.0', 24]]],
  ['usb', [['192.168.7.0', 24]]],
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

/** @param address as the socket gives it; anything that is not an IP address is `remote` */
export function classifyAddress(address: string | undefined): AddressClass {
  if (address === undefined) return 'remote';
  const plain = plainAddress(address);
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) ? 'ipv6' : null;
  if (family === null) return 'remote';
  for (const [name, list] of LISTS) if (list.check(plain, family)) return name;
  return 'remote';
}

export function isLifeline(address: AddressClass): boolean {
  return address !== 'lan' && address !== 'remote';
}
