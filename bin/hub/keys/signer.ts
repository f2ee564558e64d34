import { createPrivateKey, type KeyObject } from 'node:crypto';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { newSigningKey, publicJwk, signStatement, thumbprint } from '../../../shared/fleet/signed.ts';
import type { PublicJwk, Statement, StatementType } from '../../../shared/schemas/fleet-statements.ts';

const PEM = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/g;
const MAX_KEYS = 8;

/**
 * The keys that sign for the hub. The oldest signs everything, and the policy lists all: so nodes learn of a new key from one that
 * they trust, before anything is signed with it.
 */
export class Signer {
  readonly #key: KeyObject;
  readonly #kid: string;
  readonly publicKeys: readonly PublicJwk[];

  /** RFC 7638 thumbprint of the key that signs. */
  get kid(): string {
    return this.#kid;
  }

  private constructor(key: KeyObject, kid: string, publicKeys: readonly PublicJwk[]) {
    this.#key = key;
    this.#kid = kid;
    this.publicKeys = publicKeys;
  }

  static async open(file: string): Promise<Signer> {
    const keys = (await keysIn(file)).map((pem) => createPrivateKey(pem));
    const [first] = keys;
    if (first === undefined) throw new Error(`${file} has no key`);
    return new Signer(first, await thumbprint(publicJwk(first)), keys.map(publicJwk));
  }

  /** The one of this thumbprint; null: it has none. */
  async publicKey(kid: string): Promise<PublicJwk | null> {
    for (const key of this.publicKeys) if ((await thumbprint(key)) === kid) return key;
    return null;
  }

  async sign<T extends StatementType>(type: T, payload: Statement<T>): Promise<string> {
    return signStatement(type, payload, this.#key, this.#kid);
  }
}

/** Adds a key behind those that are there. @returns how many there are now */
export async function addSigningKey(file: string): Promise<number> {
  const keys = await keysIn(file);
  if (keys.length >= MAX_KEYS) throw new Error(`${file} has ${MAX_KEYS} keys; retire the oldest first`);
  const pem = newSigningKey().export({ type: 'pkcs8', format: 'pem' }).toString();
  await writeAtomic(file, [...keys, pem].join(''));
  return keys.length + 1;
}

/**
 * Removes the oldest key: nodes that have not heard of the next one must enrol again.
 * @param before is told the thumbprint of the key that will sign, while the file is as it was @returns how many there are now
 */
export async function retireSigningKey(
  file: string,
  before: (kid: string) => Promise<void>,
): Promise<number> {
  const keys = await keysIn(file);
  const [, next] = keys;
  if (next === undefined) throw new Error(`${file} has only one key; add the next one first`);
  await before(await thumbprint(publicJwk(createPrivateKey(next))));
  await writeAtomic(file, keys.slice(1).join(''));
  return keys.length - 1;
}

async function keysIn(file: string): Promise<readonly string[]> {
  return (await readPrivate(file))?.match(PEM) ?? [];
}
