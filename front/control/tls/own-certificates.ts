import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Authority } from '../../../shared/certificates/authority.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { namesIn, PERMITTED_NETWORKS } from './leaf-names.ts';
import { type Pair, pairOf } from './pair.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The longest that browsers take. */
const LEAF_DAYS = 397;
/** A clock that goes ahead may not make a certificate that nobody else's clock has reached. */
const BEFORE_MS = 30 * DAY_MS;
const RENEW_MS = (LEAF_DAYS * DAY_MS * 2) / 3;

/** When this build was made, ms: a clock before it is wrong. Of a checkout, when it was fetched. */
const BUILD_MS = statSync(join(import.meta.dirname, '../../../package.json')).mtimeMs;

export interface Files {
  /** Certificate and key of the authority, in one file, so that no power cut parts them. */
  readonly authority: string;
  /** Certificate and key of the node. */
  readonly leaf: string;
}

/** The authority and the certificate that the node makes for itself. */
export class OwnCertificates {
  readonly #files: Files;
  readonly #now: () => number;
  #authority: Authority | null = null;

  /** @param now wall clock, ms */
  constructor(files: Files, now: () => number) {
    this.#files = files;
    this.#now = now;
  }

  /**
   * Reads the authority, or makes it.
   * @param subject its name, for people
   * @param names the host names that it may vouch for
   * @param renew whether one that may not vouch for all of them is replaced: only while nobody can have pinned it
   * @throws Error for a file that is there and cannot be used; it is never overwritten
   */
  async open(subject: string, names: readonly string[], renew: boolean): Promise<void> {
    const file = this.#files.authority;
    const text = await readPrivate(file);
    if (text !== null) {
      const { certificate, chain, key } = pairOf(text, text, file);
      if (!certificate.ca) throw new Error(`${file} is not a certificate authority`);
      this.#authority = { certificate: chain, key };
      if (!renew || mayVouchFor(certificate, names)) return;
    }
    const { newAuthority } = await makers();
    const made = await newAuthority(subject, Math.max(this.#now(), BUILD_MS), {
      names: [...names, 'localhost'],
      networks: PERMITTED_NETWORKS,
    });
    const certificate = `${made.certificate.trimEnd()}\n`;
    await writeAtomic(file, certificate + made.key);
    this.#authority = { certificate, key: made.key };
  }

  /** PEM. @throws Error before `open` */
  get authority(): string {
    return this.#opened.certificate;
  }

  get #opened(): Authority {
    if (this.#authority === null) throw new Error('the authority is not open');
    return this.#authority;
  }

  /** Those of the names that the authority may vouch for. */
  vouched(names: readonly string[]): readonly string[] {
    const certificate = new X509Certificate(this.authority);
    return names.filter((name) => mayVouchFor(certificate, [name]));
  }

  /** The node's certificate for these names; a new one where the one on disk is not, or is due, or damaged. */
  async leaf(names: readonly string[]): Promise<Pair> {
    const file = this.#files.leaf;
    const { certificate, key: authorityKey } = this.#opened;
    const chained = (pair: Pair): Pair => ({ ...pair, chain: `${pair.chain.trimEnd()}\n${certificate}` });
    const from = Math.max(BUILD_MS, this.#now() - BEFORE_MS);
    const text = await readPrivate(file).catch(() => null); // whatever it is, it is replaced
    const kept = text === null ? null : usable(text, file);
    if (kept !== null && this.#fits(kept.certificate, names, from)) return chained(kept);
    const { issueCertificate, newCertificateKey, certificateRequest } = await makers();
    const key = newCertificateKey();
    const issued = await issueCertificate(
      { certificate, key: authorityKey },
      (await certificateRequest(key)).pem,
      { server: names[0] ?? 'svc', names },
      from,
      LEAF_DAYS,
      new Date(from),
    );
    await writeAtomic(file, `${issued}\n${key}`);
    return chained(pairOf(issued, key, file));
  }

  #fits(leaf: X509Certificate, names: readonly string[], from: number): boolean {
    const begins = leaf.validFromDate.getTime();
    const held = new Set(namesIn(leaf.subjectAltName));
    return (
      held.size === names.length &&
      names.every((name) => held.has(name)) &&
      // Also after the clock, which was ahead, has come back.
      from > begins - DAY_MS &&
      from - begins < RENEW_MS - BEFORE_MS &&
      leaf.verify(new X509Certificate(this.authority).publicKey)
    );
  }
}

function usable(text: string, file: string): Pair | null {
  try {
    return pairOf(text, text, file);
  } catch {
    return null; // torn or foreign: it is replaced
  }
}

/** Whether the constraint has all these names, or what is above them; by the bytes, as Node does not tell it. */
function mayVouchFor(authority: X509Certificate, names: readonly string[]): boolean {
  const raw = authority.raw.toString('latin1');
  // dNSName in a GeneralSubtree: a SEQUENCE with one [2] IA5String (RFC 5280, 4.2.1.10).
  return names.every((name) =>
    raw.includes(`\x30${String.fromCharCode(name.length + 2)}\x82${String.fromCharCode(name.length)}${name}`),
  );
}

/** Loaded when something is to be made: 10 MiB that most starts do without. */
async function makers() {
  const [authority, request] = await Promise.all([
    import('../../../shared/certificates/authority.ts'),
    import('../../../shared/certificates/request.ts'),
  ]);
  return { ...authority, ...request };
}
