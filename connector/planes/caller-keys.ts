import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { newCertificateKey } from '../../shared/certificates/request.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { readPrivateSync } from '../../shared/files/private-file.ts';
import { newSigningKey, publicJwk, thumbprint } from '../../shared/fleet/signed.ts';
import { parseJson, recordOf } from '../../shared/member.ts';
import type { PublicJwk } from '../../shared/schemas/fleet-statements.ts';

/** The keys of this connector for one machine credential. The hub binds a credential to the first signing key that uses it. */
export interface CallerKeys {
  readonly signing: KeyObject;
  readonly jwk: PublicJwk;
  readonly kid: string;
  /** PEM. */
  readonly certificate: string;
  /** Others may use the credential again. */
  readonly release: () => void;
}

/**
 * Reads the keys, or makes them. A credential is one client at the broker, so it is used by one connector at a time.
 * @param folder `~/.svc/mcp`
 * @throws Error for files that others may read, and while another connector uses the credential
 */
export async function openCallerKeys(folder: string, hub: string, credential: string): Promise<CallerKeys> {
  const name = createHash('sha256').update(`${hub}\n${credential}`).digest('hex').slice(0, 24);
  const file = join(folder, `caller-${name}.json`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const release = takePidLock(`${file}.lock`);
  if (release === null)
    throw new Error('Another connector on this machine uses this credential. Each needs one of its own.');
  try {
    const stored = readStored(file) ?? (await makeKeys(file));
    const signing = createPrivateKey(stored.signing);
    const jwk = publicJwk(signing);
    return { signing, jwk, kid: await thumbprint(jwk), certificate: stored.certificate, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** For as long as this process runs: a person's sign-in is bound to no key. */
export async function passingKeys(): Promise<CallerKeys> {
  const signing = newSigningKey();
  const jwk = publicJwk(signing);
  return { signing, jwk, kid: await thumbprint(jwk), certificate: '', release: () => undefined };
}

interface Stored {
  /** Both PEM, PKCS #8. */
  readonly signing: string;
  readonly certificate: string;
}

function readStored(file: string): Stored | null {
  const text = readPrivateSync(file);
  if (text === null) return null;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new Error(`${file} is broken; remove it, and make a new credential`); // the parser would quote the key
  }
  const { signing, certificate } = recordOf(value);
  if (typeof signing !== 'string' || typeof certificate !== 'string')
    throw new Error(`${file} is broken; remove it, and make a new credential`);
  return { signing, certificate };
}

async function makeKeys(file: string): Promise<Stored> {
  const signing = newSigningKey().export({ type: 'pkcs8', format: 'pem' }).toString();
  const made: Stored = { signing, certificate: newCertificateKey() };
  await writeAtomic(file, JSON.stringify(made), 0o600);
  return made;
}
