/** Notes whom a network sends anything to. It is one in which nobody else is: its own address, and its only way out, the resolver. */
export const [OWN, ELSEWHERE] = ['10.94.7.2', '10.94.7.1'];

/** Runs a program in the network that is watched. @returns what it prints */
export type Inside = (...command: readonly string[]) => Promise<string>;

/** mDNS, which `discovery.mdns` is for. */
const MDNS = /^224\.0\.0\.251 \. (?:udp|17) \. 5353$|^ff02::fb \. (?:udp|17) \. 5353$/;
/** What the kernel itself says of its address: groups, neighbours, routers. */
const KERNEL = 'meta l4proto { igmp, ipv6-icmp } accept';
const RULES = [
  'table inet watch {',
  'set four { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 1000; }',
  'set six { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 1000; }',
  'chain output {',
  'type filter hook output priority 0;',
  'oifname "lo" accept',
  KERNEL,
  'add @four { ip daddr . meta l4proto . th dport }',
  'add @six { ip6 daddr . meta l4proto . th dport }',
  '}',
  '}',
  '',
].join('\n');

/** Gives a network that has only its loopback a way out, and notes whom anything is sent to. Its resolver is `ELSEWHERE`. */
export async function watchLeaving(inside: Inside): Promise<void> {
  await inside('ip', 'link', 'set', 'lo', 'up');
  // Both ends are here: packets leave by one, and nobody takes them from the other.
  await inside('ip', 'link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'beyond');
  for (const end of ['out', 'beyond']) await inside('ip', 'link', 'set', end, 'up');
  await inside('ip', 'addr', 'add', `${OWN}/24`, 'dev', 'out');
  await inside('ip', 'route', 'add', 'default', 'via', ELSEWHERE);
  await inside('ip', 'neigh', 'add', ELSEWHERE, 'lladdr', '02:00:00:00:00:01', 'dev', 'out');
  await inside('nft', RULES);
}

/** Whom anything was sent to since, each as `address . protocol . port`. */
export async function whatLeft(
  inside: Inside,
): Promise<{ readonly mdns: readonly string[]; readonly other: readonly string[] }> {
  const lists = await Promise.all(
    ['four', 'six'].map(async (set) => inside('nft', '-n', 'list', 'set', 'inet', 'watch', set)),
  );
  const all = lists.flatMap((list) => [...list.matchAll(/[\da-f.:]+ \. \w+ \. \d+/g)].map(([each]) => each));
  return { mdns: all.filter((each) => MDNS.test(each)), other: all.filter((each) => !MDNS.test(each)) };
}
