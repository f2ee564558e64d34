import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname, type NetworkInterfaceInfo } from 'node:os';
import type { SecureContextOptions } from 'node:tls';
import { every } from '../../../shared/async/every.ts';
import { fingerprintOf } from '../../../shared/certificates/fingerprint.ts';
import { messageOf } from '../../../shared/errors.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { tlsInfo } from '../../../shared/schemas/tls.ts';
import { isLocalName, leafNames, namesIn } from './leaf-names.ts';
import type { OwnCertificates } from './own-certificates.ts';
import { type Pair, pairOf } from './pair.ts';

/** An address that comes is in the certificate after this time at the latest. */
const LOOK_MS = 10_000;

/** A listener that takes another certificate without a restart; open connections stay as they are. */
export interface TlsDoor {
  readonly port: number;
  setSecureContext(context: SecureContextOptions): void;
}

export interface NodeTlsOptions {
  /** 0: no HTTPS. */
  readonly port: number;
  /** Paths of an operator's own certificate and key; null: the node makes its own. */
  readonly given: { readonly cert: string; readonly key: string } | null;
  readonly own: OwnCertificates;
  readonly deviceId: string;
  /** Below `.local`, as they are called at the moment. */
  readonly hosts: () => Promise<readonly string[]>;
  readonly interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
  readonly paired: () => boolean;
  readonly listen: (port: number, context: SecureContextOptions) => Promise<TlsDoor>;
  readonly log: Logger;
}

/** What `GET /api/tls` says. */
export type TlsInfo = Made<typeof tlsInfo>;

/**
 * HTTPS of the node: its authority, its certificate, the port. What goes wrong here is logged, tried again and told by `info`; the
 * node goes on without HTTPS, and `security.require_tls` then refuses what would come in the clear.
 */
export class NodeTls {
  readonly #options: NodeTlsOptions;
  #pair: Pair | null = null;
  /** Of the operator's files: when they were written, so that they are read again. */
  #version = '';
  #door: TlsDoor | null = null;
  #problem: string | null = null;
  #opened = false;
  #timer: NodeJS.Timeout | null = null;
  #busy: Promise<void> = Promise.resolve();

  constructor(options: NodeTlsOptions) {
    this.#options = options;
  }

  /** Resolves when HTTPS is served, or has told why not. */
  async start(): Promise<void> {
    if (this.#options.port === 0) return;
    await this.look();
    this.#timer = every(LOOK_MS, 'HTTPS', async () => this.look());
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#busy;
  }

  /** The port of HTTPS; null while it is not served. */
  get port(): number | null {
    return this.#door?.port ?? null;
  }

  /** The certificate of the node's own authority, PEM; null where there is none, or the operator's is used. */
  get authority(): string | null {
    return this.#options.given === null && this.#opened ? this.#options.own.authority : null;
  }

  /** SHA-256 of the authority, hex, for pairing and mDNS; null as `authority`. */
  get fingerprint(): string | null {
    return this.authority === null ? null : fingerprintOf(new X509Certificate(this.authority));
  }

  info(): TlsInfo {
    const certificate = this.#pair?.certificate ?? null;
    const authority = this.authority === null ? null : new X509Certificate(this.authority);
    return {
      port: this.port,
      authority_sha256: authority === null ? null : fingerprintOf(authority),
      authority_not_after: authority?.validToDate.toISOString() ?? null,
      leaf_sha256: certificate === null ? null : fingerprintOf(certificate),
      not_after: certificate?.validToDate.toISOString() ?? null,
      names: namesIn(certificate?.subjectAltName),
      problem: this.#problem,
    };
  }

  /** Takes what has changed: an address, the date, the operator's files. One look at a time. */
  async look(): Promise<void> {
    this.#busy = this.#busy.then(async () => this.#look());
    return this.#busy;
  }

  async #look(): Promise<void> {
    const { port, listen, log } = this.#options;
    try {
      const pair = await this.#current();
      if (pair !== null && pair.certificate.fingerprint256 !== this.#pair?.certificate.fingerprint256) {
        this.#door?.setSecureContext({ cert: pair.chain, key: pair.key });
        this.#pair = pair;
        log.info(`HTTPS: certificate for ${namesIn(pair.certificate.subjectAltName).join(', ')}`);
      }
      if (this.#door === null && this.#pair !== null) {
        this.#door = await listen(port, { cert: this.#pair.chain, key: this.#pair.key });
        log.info(`listening on port ${this.#door.port} by TLS`, { port: this.#door.port });
      }
      this.#problem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) log.error(`HTTPS: ${problem}`);
      this.#problem = problem;
    }
  }

  async #current(): Promise<Pair | null> {
    const { given, own, deviceId, hosts, interfaces, paired, log } = this.#options;
    if (given !== null) return this.#givenPair(given);
    const names = [...new Set([...(await hosts()), `${hostname().toLowerCase()}.local`])].filter(isLocalName);
    // Nobody has pinned the authority of a node without an owner, so that it may follow the node's name.
    const follows = !paired();
    if (!this.#opened || (follows && own.vouched(names).length < names.length)) {
      await own.open(`svc ${deviceId}`, names, follows);
      this.#opened = true;
      const vouched = own.vouched(names);
      if (vouched.length < names.length)
        log.warn(
          `HTTPS: the authority of this node is older than the name ${names.filter((name) => !vouched.includes(name)).join(', ')} and cannot vouch for it; docs/https.md says how to make a new one`,
        );
    }
    return own.leaf(leafNames(own.vouched(names), interfaces()));
  }

  async #givenPair({ cert, key }: { readonly cert: string; readonly key: string }): Promise<Pair | null> {
    const [ofCert, ofKey] = await Promise.all([stat(cert), stat(key)]);
    const version = `${ofCert.mtimeMs} ${ofCert.size} ${ofKey.mtimeMs} ${ofKey.size}`;
    if (version === this.#version) return null;
    const privateKey = await readPrivate(key);
    if (privateKey === null) throw new Error(`${key} is not there`);
    const pair = pairOf(await readFile(cert, 'utf8'), privateKey, cert);
    this.#version = version;
    return pair;
  }
}
