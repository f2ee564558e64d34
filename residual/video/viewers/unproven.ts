import { isIP } from 'node:net';
import type { Message, RTCIceTransport } from 'werift';
import { peerKey, plainAddress } from '../../../shared/auth/address.ts';
import { leadsNowhere } from '../../../shared/auth/asked-address.ts';

/**
 * What leaves for an address before it has answered a check (RFC 8445 19.5.1, RFC 8656 21): an offer names any address it likes,
 * and werift would check each of a thousand ports there five times. A host that has not answered gets little, whoever offers it.
 */

const LIMITS = {
  /** To one host, of all playbacks together; it comes back in `refillMs`. A browser that does not answer is asked with about 2 kB. */
  hostBytes: 4096,
  refillMs: 60_000,
  /** Of one ICE session, to all hosts together. */
  sessionBytes: 16_384,
  /** Of what came from there: a check that was received is checked in turn. */
  answerFactor: 2,
  hosts: 1024,
} as const;

/** IP and UDP headers, and what ends a STUN message. */
const OVERHEAD_BYTES = 60;

/** Whether it is the address of one host: no name, and neither everybody's nor nobody's. */
export function isOneHost(host: string): boolean {
  return isIP(plainAddress(host)) !== 0 && !leadsNowhere(host);
}

interface Spent {
  bytes: number;
  at: number;
}

/** How much the hosts that have not answered have got, of all playbacks. */
export class Unproven {
  readonly #now: () => number;
  readonly #spent = new Map<string, Spent>();

  /** @param now steady, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether so many bytes may go there; then they count. */
  take(key: string, bytes: number): boolean {
    const now = this.#now();
    const spent = this.#spent.get(key) ?? { bytes: 0, at: now };
    const left = Math.max(0, spent.bytes - ((now - spent.at) * LIMITS.hostBytes) / LIMITS.refillMs);
    if (left + bytes > LIMITS.hostBytes) return false;
    if (this.#spent.size >= LIMITS.hosts && !this.#spent.has(key) && !this.#forgot(now)) return false;
    this.#spent.set(key, { bytes: left + bytes, at: now });
    return true;
  }

  /** What went to a host that has answered since does not count. */
  giveBack(key: string, bytes: number): void {
    const spent = this.#spent.get(key);
    if (spent !== undefined) spent.bytes = Math.max(0, spent.bytes - bytes);
  }

  #forgot(now: number): boolean {
    for (const [key, { at }] of this.#spent) if (now - at >= LIMITS.refillMs) this.#spent.delete(key);
    return this.#spent.size < LIMITS.hosts;
  }
}

type Address = readonly [string, number];

/** What of werift's transports sends checks: over a socket of ours, or a relay. */
interface Sending {
  readonly onRequestReceived: {
    subscribe(heard: (message: Message, from: Address, data: Buffer) => void): unknown;
  };
  request(message: Message, to: Address, ...more: readonly unknown[]): Promise<readonly [Message, Address]>;
  sendStun(message: Message, to: Address): Promise<void>;
}

interface Insides {
  ensureProtocol(protocol: Sending): void;
}

function hasInsides(connection: unknown): connection is Insides {
  return (
    typeof connection === 'object' &&
    connection !== null &&
    typeof Reflect.get(connection, 'ensureProtocol') === 'function'
  );
}

/**
 * Holds what one playback sends to the bounds, over every transport that its connections get from now on.
 * @param connections werift's, before they have gathered
 * @returns begins a new ICE session
 */
export function boundChecks(
  connections: ReadonlyArray<RTCIceTransport['connection']>,
  unproven: Unproven,
): () => void {
  const session = new Session(unproven);
  const insides: readonly unknown[] = connections;
  for (const inside of insides) {
    if (!hasInsides(inside)) throw new Error('the checks of this version of werift cannot be bounded');
    const ensure = inside.ensureProtocol.bind(inside);
    inside.ensureProtocol = (protocol) => {
      bound(protocol, session);
      ensure(protocol);
    };
  }
  return () => session.begin();
}

function bound(protocol: Sending, session: Session): void {
  const request = protocol.request.bind(protocol);
  const sendStun = protocol.sendStun.bind(protocol);
  // First: the answer to it, and the check in turn, are within what it brings.
  protocol.onRequestReceived.subscribe((_message, [host], data) => session.heard(host, data.length));
  protocol.request = async (message, to, ...more) => {
    const answer = await request(message, to, ...more);
    session.proven(answer[1][0]); // werift has looked at its integrity, and where it came from
    return answer;
  };
  protocol.sendStun = async (message, to) => {
    if (session.allows(to[0], message.bytes.length)) await sendStun(message, to);
  };
}

class Session {
  readonly #unproven: Unproven;
  readonly #proven = new Set<string>();
  /** Bytes that came from a host and were not answered, and that have gone to it. */
  readonly #heard = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  #left: number = LIMITS.sessionBytes;

  constructor(unproven: Unproven) {
    this.#unproven = unproven;
  }

  begin(): void {
    this.#left = LIMITS.sessionBytes;
  }

  heard(host: string, bytes: number): void {
    const key = keyOf(host);
    if (this.#proven.has(key) || (this.#heard.size >= LIMITS.hosts && !this.#heard.has(key))) return;
    const credit = (this.#heard.get(key) ?? 0) + (bytes + OVERHEAD_BYTES) * LIMITS.answerFactor;
    this.#heard.set(key, Math.min(credit, LIMITS.hostBytes));
  }

  proven(host: string): void {
    const key = keyOf(host);
    if (this.#proven.has(key)) return;
    this.#proven.add(key);
    const sent = this.#sent.get(key) ?? 0;
    this.#unproven.giveBack(key, sent);
    this.#left += sent;
    this.#sent.delete(key);
    this.#heard.delete(key);
  }

  allows(host: string, payload: number): boolean {
    const key = keyOf(host);
    if (this.#proven.has(key)) return true;
    const bytes = payload + OVERHEAD_BYTES;
    const credit = this.#heard.get(key) ?? 0;
    if (credit >= bytes) {
      this.#heard.set(key, credit - bytes);
      return true;
    }
    if (bytes > this.#left || !this.#unproven.take(key, bytes)) return false;
    this.#left -= bytes;
    this.#sent.set(key, (this.#sent.get(key) ?? 0) + bytes);
    return true;
  }
}

function keyOf(host: string): string {
  return peerKey(plainAddress(host));
}
