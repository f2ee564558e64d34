import { X509Certificate } from 'node:crypto';
import { type Authority, type IssuedFor, issueCertificate } from '../../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../../shared/certificates/request.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readOwn, readPrivate } from '../../../shared/files/private-file.ts';
import { HUB_ID } from '../../../shared/fleet/topics.ts';
import type { HubPlaces, KeyPairFiles } from '../places.ts';

const DAY_MS = 24 * 3600 * 1000;
const DAYS = 365;

/** A certificate with its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The CA's certificate and key. @throws Error where one is missing or open to others */
export async function readAuthority({ ca, caKey }: HubPlaces): Promise<Authority> {
  const [certificate, key] = await Promise.all([readOwn(ca, 0o022), readPrivate(caKey)]);
  if (certificate === null || key === null) throw new Error(`${ca} or ${caKey} is not there`);
  return { certificate, key };
}

/** The hub's own certificates: of its HTTPS, of its client at the broker, of the broker. */
export class OwnCertificates {
  readonly #places: HubPlaces;
  readonly #names: readonly string[];
  readonly #authority: Authority;
  readonly #now: () => number;
  /** Its name at the broker. */
  #client = HUB_ID;

  /** @param names of hub and broker @param now wall clock, ms */
  constructor(places: HubPlaces, names: readonly string[], authority: Authority, now: () => number) {
    this.#places = places;
    this.#names = names;
    this.#authority = authority;
    this.#now = now;
  }

  /** Makes what is missing, has other names than the config, or has less than half of its time left. @returns whether any was */
  async renew(): Promise<boolean> {
    const { server, mqtt, broker } = this.#places;
    const made = [
      await this.#ensure(server, { server: 'svc-hub', names: this.#names }),
      await this.#ensure(mqtt, { client: this.#client }),
      await this.#ensure(broker, { server: 'broker', names: this.#names }),
    ];
    return made.includes(true);
  }

  /** Of its client at the broker, which has this name from now on. */
  async client(name: string): Promise<KeyPair> {
    const { mqtt } = this.#places;
    this.#client = name;
    await this.#ensure(mqtt, { client: name });
    return this.read(mqtt);
  }

  async read(pair: KeyPairFiles): Promise<KeyPair> {
    const [certificate, key] = await Promise.all([readOwn(pair.certificate, 0o022), readPrivate(pair.key)]);
    if (certificate === null || key === null) throw new Error(`${pair.certificate} is not there`);
    return { certificate, key };
  }

  async #ensure(files: KeyPairFiles, what: IssuedFor): Promise<boolean> {
    const text = await readOwn(files.certificate, 0o022);
    let key = await readPrivate(files.key);
    if (text !== null && key !== null && this.#isGood(text, what)) return false;
    if (key === null) {
      key = newCertificateKey();
      await writeAtomic(files.key, key);
    }
    const { pem } = await certificateRequest(key);
    const certificate = await issueCertificate(this.#authority, pem, what, this.#now(), DAYS);
    // Some programs want certificate and key in one file (`cat`).
    await writeAtomic(files.certificate, `${certificate.trimEnd()}\n`, 0o644);
    return true;
  }

  #isGood(text: string, what: IssuedFor): boolean {
    const certificate = new X509Certificate(text);
    if (!certificate.verify(new X509Certificate(this.#authority.certificate).publicKey)) return false;
    if (certificate.validToDate.getTime() - this.#now() < (DAYS * DAY_MS) / 2) return false;
    if ('client' in what) return certificate.subject === `CN=${what.client}`;
    return what.names.every(
      (name) => certificate.checkHost(name) !== undefined || certificate.checkIP(name) !== undefined,
    );
  }
}
