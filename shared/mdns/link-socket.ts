import { createSocket, type Socket } from 'node:dgram';
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { type Rate, TokenBucket } from '../async/token-bucket.ts';
import type { Link } from './links.ts';

/** A link's packets of mDNS by one family of addresses, both ways. What anybody may send is bounded before it is read. */

const GROUPS = { 4: '224.0.0.251', 6: 'ff02::fb' } as const;
export const PORT = 5353;
const HEAD_BYTES = 12;
/** RFC 6762, 17. */
const MAX_BYTES = 9000;
/** Questions and records of one packet. */
const MAX_ENTRIES = 256;
const MAX_QUESTIONS = 64;
/** How many hosts are told apart. */
const MAX_HOSTS = 64;

export interface Bounds {
  /** Packets that are read, from one host and from all. */
  readonly each: Rate;
  readonly all: Rate;
}

/** Who has sent a packet. */
export interface Sender {
  readonly address: string;
  readonly port: number;
}

interface Options {
  readonly link: Link;
  /** 4 unless told. */
  readonly family?: 4 | 6;
  readonly bounds: Bounds;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly onPacket: (packet: DecodedPacket, from: Sender) => void;
  readonly onError: (error: unknown) => void;
  /** UDP; 5353 unless told. */
  readonly port?: number | undefined;
}

/** Whether a packet is small enough to be read, by its head alone. */
function isModest(bytes: Buffer): boolean {
  if (bytes.length < HEAD_BYTES || bytes.length > MAX_BYTES) return false;
  const [questions, ...others] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at));
  const entries = others.reduce((sum, count) => sum + count, questions ?? 0);
  return (questions ?? 0) <= MAX_QUESTIONS && entries <= MAX_ENTRIES;
}

export class LinkSocket {
  readonly #socket: Socket;
  readonly #options: Options;
  readonly #port: number;
  readonly #group: string;
  readonly #hosts = new Map<string, TokenBucket>();
  readonly #all: TokenBucket;
  #isOpen = false;

  /** @param onReady called once it can send */
  constructor(options: Options, onReady: () => void) {
    const { link, bounds, family = 4, port = PORT, now, onError } = options;
    this.#options = options;
    this.#port = port;
    const zone = family === 6 ? `%${link.name}` : '';
    this.#group = `${GROUPS[family]}${zone}`;
    this.#all = new TokenBucket(bounds.all, now());
    this.#socket =
      family === 4
        ? createSocket({ type: 'udp4', reuseAddr: true })
        : createSocket({ type: 'udp6', reuseAddr: true, ipv6Only: true });
    this.#socket.on('error', onError);
    this.#socket.on('message', (bytes, from) => this.#heard(bytes, from));
    // By the group's own address: what is sent to this machine alone does not come here.
    this.#socket.bind({ port, address: this.#group }, () => {
      try {
        const own = family === 4 ? (link.v4[0] ?? '') : `::${zone}`;
        this.#socket.setMulticastInterface(own);
        this.#socket.addMembership(GROUPS[family], own);
        this.#socket.setMulticastTTL(255);
        this.#isOpen = true;
        onReady();
      } catch (error) {
        onError(error); // the link may just have gone
      }
    });
  }

  /** @param to one host; null: all of the link */
  send(packet: Packet, to: Sender | null = null, done: () => void = () => undefined): void {
    if (!this.#isOpen) return done();
    const { port, address } = to ?? { port: this.#port, address: this.#group };
    this.#socket.send(encode(packet), port, address, (error) => {
      if (error !== null) this.#options.onError(error);
      done();
    });
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.close();
  }

  #heard(bytes: Buffer, { address, port }: Sender): void {
    const { link, family, now, onPacket } = this.#options;
    // By IPv6 the group itself is of this link alone.
    if (family !== 6 && !link.holds(address)) return;
    if (!this.#hostOf(address).take(now()) || !this.#all.take(now())) return;
    if (!isModest(bytes)) return;
    let packet: DecodedPacket;
    try {
      packet = decode(bytes);
    } catch {
      return; // anybody may send anything here
    }
    onPacket(packet, { address, port });
  }

  #hostOf(address: string): TokenBucket {
    const { bounds, now } = this.#options;
    const known = this.#hosts.get(address);
    if (known !== undefined) return known;
    if (this.#hosts.size >= MAX_HOSTS) this.#hosts.clear();
    const bucket = new TokenBucket(bounds.each, now());
    this.#hosts.set(address, bucket);
    return bucket;
  }
}
