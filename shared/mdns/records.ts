import type { Answer, BaseAnswer, SrvData, TxtData } from 'dns-packet';
import { recordOf } from '../member.ts';
import type { Link } from './links.ts';

/** What a service says of itself on a link, as records (RFC 6762, 6763). */

/** A service that this machine has. */
export interface Service {
  /** How a person knows it: a label, with any letters. */
  readonly name: string;
  readonly type: '_svc._tcp' | '_svc-mcp._tcp' | '_http._tcp';
  readonly port: number;
  /** `field-drone.local`; null: the machine's own. */
  readonly host: string | null;
  readonly txt: Readonly<Record<string, string>>;
}

export type MdnsRecord =
  | BaseAnswer<'PTR' | 'A' | 'AAAA', string>
  | BaseAnswer<'SRV', SrvData>
  | BaseAnswer<'TXT', TxtData>;

/** RFC 6762, 10: those with a host name, and all others. */
const [HOST_TTL, TTL] = [120, 4500];
const MAX_LABEL = 63;
const MAX_TEXT = 255;
const MAX_ADDRESSES = 4;

/** The first name of a service. */
export function instanceOf({ name, type }: Pick<Service, 'name' | 'type'>): string {
  return `${labelOf(name, '')}.${type}.local`;
}

/** Its TXT record, each text as long as one may be. */
export function textsOf({ txt }: Pick<Service, 'txt'>): readonly Buffer[] {
  return Object.entries(txt).map(([key, value]) => Buffer.from(`${key}=${value}`).subarray(0, MAX_TEXT));
}

/** What follows a first name that another machine has: `name-2.local`, and `name (2)` of a service. */
export function nameAt(first: string, turn: number): string {
  if (turn === 1) return first;
  const dot = first.indexOf('.');
  const rest = first.slice(dot);
  return labelOf(first.slice(0, dot), rest === '.local' ? `-${turn}` : ` (${turn})`) + rest;
}

/** One label: without dots, and as long as one may be, in UTF-8. */
function labelOf(name: string, suffix: string): string {
  const letters = [...name.replaceAll('.', '-')];
  while (Buffer.byteLength(letters.join('') + suffix) > MAX_LABEL) letters.pop();
  return letters.join('') + suffix;
}

/**
 * All records of these services on that link: only its own addresses, since from there nobody may reach another.
 * @param turn of a first name: 1, or more after conflicts
 */
export function recordsOf(
  services: readonly (Service & { readonly host: string })[],
  link: Pick<Link, 'v4' | 'v6'>,
  turn: (name: string) => number,
): readonly MdnsRecord[] {
  const at = (first: string): string => nameAt(first, turn(first));
  const records: MdnsRecord[] = services.flatMap((service): MdnsRecord[] => {
    const type = `${service.type}.local`;
    const name = at(instanceOf(service));
    const target = at(service.host);
    const data = [...textsOf(service)];
    return [
      { name: type, type: 'PTR', ttl: TTL, data: name },
      { name: '_services._dns-sd._udp.local', type: 'PTR', ttl: TTL, data: type },
      {
        name,
        type: 'SRV',
        ttl: HOST_TTL,
        flush: true,
        data: { port: service.port, target, priority: 0, weight: 0 },
      },
      { name, type: 'TXT', ttl: TTL, flush: true, data },
    ];
  });
  for (const host of new Set(services.map(({ host: first }) => at(first)))) {
    const own = { name: host, ttl: HOST_TTL, flush: true } as const;
    for (const data of link.v4.slice(0, MAX_ADDRESSES)) records.push({ ...own, type: 'A', data });
    for (const data of link.v6.slice(0, MAX_ADDRESSES)) records.push({ ...own, type: 'AAAA', data });
  }
  return records;
}

/** The same for two records that say the same; names have no case. */
export function keyOf({ type, name, ...rest }: Answer): string {
  const data = 'data' in rest ? rest.data : null;
  return `${type} ${name.toLowerCase()} ${dataOf(data)}`;
}

function dataOf(data: unknown): string {
  if (typeof data === 'string') return data.toLowerCase();
  if (Buffer.isBuffer(data)) return data.toString('hex');
  if (Array.isArray(data)) return data.map(dataOf).join(' ');
  const { port, target } = recordOf(data);
  return `${String(port)} ${String(target).toLowerCase()}`;
}
