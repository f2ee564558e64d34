import { X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fingerprintOf } from '../certificates/fingerprint.ts';
import { messageOf } from '../errors.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { takePidLock } from '../files/pid-lock.ts';
import { readPrivateSync } from '../files/private-file.ts';
import { listOf, recordOf } from '../member.ts';

/** Where a node was reached. */
interface KnownPlace {
  /** Lower case; an IPv6 address without brackets. */
  readonly host: string;
  /** Of plain HTTP, so that nobody is sent there; null: not known. */
  readonly port: number | null;
  readonly tls_port: number;
}

/** A node whose certificate authority this person believes. */
export interface KnownNode {
  readonly device_id: string;
  /** Hex. */
  readonly authority_sha256: string;
  /** PEM, one certificate. */
  readonly authority: string;
  /** The newest last. */
  readonly places: readonly KnownPlace[];
}

const MAX_BYTES = 1024 * 1024;
const MAX_NODES = 400;
/** Addresses change; the one that was used last stays. */
const MAX_PLACES = 16;
/** A writer holds the lock for milliseconds. */
const TRIES = 40;
const TRY_MS = 50;

/** @param home of the person */
export function knownNodesFile(home: string): string {
  return join(home, '.svc', 'known_nodes');
}

/**
 * The one certificate in PEM, however it was written: a text with more of them would make a client believe those too.
 * @throws Error for what is no certificate
 */
export function authorityOf(pem: string): Pick<KnownNode, 'authority' | 'authority_sha256'> {
  const certificate = new X509Certificate(pem);
  if (!certificate.ca) throw new Error('it is no certificate authority');
  return {
    authority: certificate.toString(),
    authority_sha256: fingerprintOf(certificate),
  };
}

/** `~/.svc/known_nodes`: the nodes that this person knows, mode 0600. It is read anew each time: another program may write it. */
export class KnownNodes {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** @throws Error for a file that others can write, or that is broken: what it had must not be taken for unknown */
  get all(): readonly KnownNode[] {
    const text = readPrivateSync(this.file, MAX_BYTES);
    if (text === null) return [];
    try {
      const value: unknown = JSON.parse(text);
      if (!Array.isArray(value)) throw new Error('it is no list');
      return value.map(nodeOf);
    } catch (error) {
      throw new Error(
        `${this.file} is broken (${messageOf(error)}). Mend it, or remove it; then each node is asked about anew.`,
        { cause: error },
      );
    }
  }

  /** The node that was reached there, by either of its ports. */
  at(host: string, port: number): { readonly node: KnownNode; readonly place: KnownPlace } | null {
    for (const node of this.all) {
      const place = node.places.find(
        (each) => each.host === host && (each.port === port || each.tls_port === port),
      );
      if (place !== undefined) return { node, place };
    }
    return null;
  }

  /** Whether a node was reached at this host, by whatever port. */
  hasHost(host: string): boolean {
    return this.all.some(({ places }) => places.some((place) => place.host === host));
  }

  device(id: string): KnownNode | null {
    return this.all.find(({ device_id: each }) => each === id) ?? null;
  }

  /** Keeps the node with this place; it is the caller who has seen that the authority is the right one. */
  async remember(node: Omit<KnownNode, 'places'>, place: KnownPlace): Promise<void> {
    await this.#change((all) => {
      const others = all
        .filter(({ device_id: id }) => id !== node.device_id)
        .map((each) => ({ ...each, places: each.places.filter((other) => !isSame(other, place)) }));
      const before = all.find(({ device_id: id }) => id === node.device_id)?.places ?? [];
      const places = [...before.filter((other) => !isSame(other, place)), place].slice(-MAX_PLACES);
      if (others.length >= MAX_NODES)
        throw new Error(`${this.file} has ${MAX_NODES} nodes already: svc known-nodes forget HOST`);
      return [...others, nodeOf({ ...node, places })];
    });
  }

  /** @param what a host, `host:port` or a device id. @returns what was forgotten */
  async forget(what: string): Promise<readonly KnownNode[]> {
    let gone: readonly KnownNode[] = [];
    await this.#change((all) => {
      gone = all.filter((node) => node.device_id === what || node.places.some((place) => isAt(place, what)));
      return all.filter((node) => !gone.includes(node));
    });
    return gone;
  }

  async #change(change: (all: readonly KnownNode[]) => readonly KnownNode[]): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    const release = await this.#lock();
    try {
      await writeAtomic(this.file, `${JSON.stringify(change(this.all), null, 2)}\n`, 0o600);
    } finally {
      release();
    }
  }

  async #lock(): Promise<() => void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const release = takePidLock(`${this.file}.lock`);
      if (release !== null) return release;
      await delay(TRY_MS);
    }
    throw new Error(`${this.file} is being written by another program. Try again.`);
  }
}

function isSame(one: KnownPlace, other: KnownPlace): boolean {
  return one.host === other.host && one.tls_port === other.tls_port;
}

function isAt({ host, port, tls_port: tlsPort }: KnownPlace, what: string): boolean {
  const name = host.includes(':') ? `[${host}]` : host;
  return [host, name, `${name}:${tlsPort}`, ...(port === null ? [] : [`${name}:${port}`])].includes(
    what.toLowerCase(),
  );
}

/** @throws Error saying what does not fit */
function nodeOf(value: unknown): KnownNode {
  const { device_id: id, authority, authority_sha256: sha256, places } = recordOf(value);
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(id)) throw new Error('a node has no device_id');
  if (typeof authority !== 'string') throw new Error(`${id} has no authority`);
  const held = authorityOf(authority);
  if (held.authority_sha256 !== sha256) throw new Error(`the authority of ${id} is not that of its SHA-256`);
  return { device_id: id, ...held, places: listOf(places).map((place) => placeOf(id, place)) };
}

function placeOf(id: string, value: unknown): KnownPlace {
  const { host, port, tls_port: tlsPort } = recordOf(value);
  if (typeof host !== 'string' || host === '' || !isPort(tlsPort) || (port !== null && !isPort(port)))
    throw new Error(`a place of ${id} is no host with its ports`);
  return { host, port, tls_port: tlsPort };
}

/** Whether it is a TCP port. */
export function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
}
