import { isDeviceId } from '../../shared/device-id.ts';
import { isPort } from '../../shared/http/known-nodes.ts';
import type { Link } from '../../shared/mdns/links.ts';
import { listOf } from '../../shared/member.ts';
import { plainText } from '../../shared/plain-text.ts';
import { asRecord } from '../rows.ts';

/** What nodes say of themselves by mDNS (`_svc._tcp`). Anybody on the LAN says what they like, so it is read strictly, and bounded. */

export const SERVICE = '_svc._tcp.local';
const MAX_RECORDS = 256;
const MAX_TXT = 32;
/** As the configuration bounds it. */
const MAX_NAME = 64;
/** How many nodes are looked at, and how many at one address. */
const MAX_FOUND = 64;
const MAX_AT_ONE = 8;

export interface AnnouncedNode {
  readonly deviceId: string;
  readonly name: string | null;
  readonly paired: boolean;
  /** `host:port`: the address, never the name that the node announces. */
  readonly host: string;
  /** Of HTTPS: the address with its port, and how the SHA-256 of the authority begins; null where it announces none. */
  readonly tls?: { readonly host: string; readonly fingerprint: string } | null;
}

/**
 * The nodes in a response. A node is where its response came from, and says so itself; what does not fit is left out.
 * @param from the address that the response came from, one of this machine's links
 */
export function announcedIn(packet: unknown, from: string): readonly AnnouncedNode[] {
  const { answers, additionals } = asRecord(packet);
  const records = [...listOf(answers), ...listOf(additionals)].map(asRecord);
  if (records.length > MAX_RECORDS) return [];
  const named = (type: string, name: string): readonly unknown[] =>
    records
      .filter((each) => each['type'] === type && sameName(each['name'], name) && each['ttl'] !== 0)
      .map(({ data }) => data);
  const instances = named('PTR', SERVICE).filter((data) => typeof data === 'string');
  return instances.slice(0, MAX_AT_ONE).flatMap((instance) => {
    const { port, target } = asRecord(named('SRV', instance)[0]);
    if (!isPort(port) || typeof target !== 'string' || !named('A', target).includes(from)) return [];
    return readTxt(txtOf(named('TXT', instance)[0]), from, port) ?? [];
  });
}

function sameName(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase();
}

/** RFC 6763: keys without case, the first one counts. */
function txtOf(data: unknown): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const each of (Array.isArray(data) ? listOf(data) : [data]).slice(0, MAX_TXT)) {
    const text = Buffer.isBuffer(each) ? each.toString('utf8') : '';
    const at = text.indexOf('=');
    const key = text.slice(0, Math.max(at, 0)).toLowerCase();
    if (at > 0 && !texts.has(key)) texts.set(key, text.slice(at + 1));
  }
  return texts;
}

/** Null where one value is not as nodes write it. */
function readTxt(txt: ReadonlyMap<string, string>, address: string, port: number): AnnouncedNode | null {
  const deviceId = txt.get('device_id');
  const paired = txt.get('paired') ?? '';
  const tls = txt.get('tls') ?? null;
  const fingerprint = txt.get('tlsfp') ?? null;
  if (!isDeviceId(deviceId) || !/^(?:true|false|0|1)$/.test(paired)) return null;
  if (tls !== null && !(/^[1-9]\d{0,4}$/.test(tls) && isPort(Number(tls)))) return null;
  if (fingerprint !== null && !/^[0-9a-f]{32}$/.test(fingerprint)) return null;
  return {
    deviceId,
    name: [...plainText(txt.get('name') ?? '')].slice(0, MAX_NAME).join('').trim() || null,
    paired: paired === 'true' || paired === '1',
    host: `${address}:${port}`,
    tls: tls === null || fingerprint === null ? null : { host: `https://${address}:${tls}`, fingerprint },
  };
}

/** Whether it is the address of one machine in a subnet of this machine's own links: no other one is asked anything. */
export function isOnLink(address: string, links: readonly Link[]): boolean {
  // "This network", loopback, link-local, multicast and what is reserved, whatever an interface has.
  const first = Number(address.split('.')[0]);
  if (first === 0 || first === 127 || first >= 224 || address.startsWith('169.254.')) return false;
  return links.some(({ holds }) => holds(address));
}

/** What was found, bounded: a flood of false nodes costs no more than a few do. */
export class Candidates {
  readonly #wanted: ReadonlySet<string>;
  readonly #found = new Map<string, AnnouncedNode>();
  readonly #contested = new Set<string>();

  /** @param wanted ids that have a place however many others there are */
  constructor(wanted: ReadonlySet<string> = new Set()) {
    this.#wanted = wanted;
  }

  /** Without those that two machines say they are. */
  get all(): readonly AnnouncedNode[] {
    return [...this.#found.values()].filter(({ deviceId }) => !this.#contested.has(deviceId));
  }

  get contested(): readonly string[] {
    return [...this.#contested];
  }

  add(node: AnnouncedNode): void {
    const { deviceId: id } = node;
    const before = this.#found.get(id);
    if (before !== undefined) {
      if (isSameMachine(before, node))
        this.#found.set(id, { ...node, host: before.host, tls: before.tls ?? null });
      else this.#contested.add(id);
      return;
    }
    const others = [...this.#found.values()];
    const beside = others.filter(({ host }) => hostOf(host) === hostOf(node.host));
    if (this.#wanted.has(id) || (others.length < MAX_FOUND && beside.length < MAX_AT_ONE))
      this.#found.set(id, node);
  }
}

/** At one place, or with one authority: a node may be on two links. */
function isSameMachine(one: AnnouncedNode, other: AnnouncedNode): boolean {
  const shown = one.tls?.fingerprint;
  return shown === other.tls?.fingerprint && (shown !== undefined || one.host === other.host);
}

function hostOf(place: string): string {
  return place.slice(0, place.lastIndexOf(':'));
}
