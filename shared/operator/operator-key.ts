import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { writeAtomic } from '../files/atomic-write.ts';
import { type OperatorFiles, readOwnFile } from './operator-files.ts';

/** The operator's Ed25519 key: it signs that a person stands by, and single calls. The connector reads the public half only. */

/** Makes the key if there is none. @returns whether it was made now */
export async function ensureOperatorKey(files: OperatorFiles): Promise<boolean> {
  if (existsSync(files.key)) return false;
  await mkdir(files.directory, { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  // The public half first: a key without it would never be accepted.
  await writeAtomic(files.publicKey, publicKey.export({ type: 'spki', format: 'pem' }).toString(), 0o644);
  await writeAtomic(files.key, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600);
  return true;
}

/** @returns the signature, base64url. @throws Error without a key */
export function signAsOperator(files: OperatorFiles, payload: Buffer): string {
  const key = readOwnFile(files.key);
  if (key === null) throw new Error(`there is no key at ${files.key}`);
  return sign(null, payload, createPrivateKey(key)).toString('base64url');
}

/** @throws Error for a key that another user may have written */
export function isSignedByOperator(files: OperatorFiles, payload: Buffer, signature: string): boolean {
  const key = readOwnFile(files.publicKey);
  return key !== null && verify(null, payload, createPublicKey(key), Buffer.from(signature, 'base64url'));
}
