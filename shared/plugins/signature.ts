import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWeakJwk } from '../auth/weak-key.ts';
import { codeOf, messageOf } from '../errors.ts';
import { readOwn } from '../files/private-file.ts';
import { PluginRefusal } from './refusal.ts';

export interface FileDigest {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
}

interface Signature {
  readonly signer: string;
  /** 64 bytes. */
  readonly signature: Buffer;
}

/** Whom this node believes. */
export interface Trust {
  /** Signer -> Ed25519 public key. */
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly revoked: ReadonlySet<string>;
}

export const SIGNER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const BASE64_OF_64_BYTES = /^[A-Za-z0-9+/]{86}==$/;
const MAX_KEY_BYTES = 4096;
const MAX_KEYS = 1000;

/** The 32 bytes that are signed: SHA-256 over `path LF sha256 LF` of all files but the signature, in the order of their paths. */
export function digestOf(files: readonly FileDigest[]): Buffer {
  const hash = createHash('sha256');
  const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  for (const { path, sha256 } of sorted) hash.update(`${path}\n${sha256}\n`);
  return hash.digest();
}

/**
 * Reads `SIGNATURE`: the signer's id, and the signature in base64, each on a line.
 * @throws PluginRefusal signature_invalid
 */
export function parseSignature(text: string): Signature {
  const [signer, encoded, ...more] = text
    .split('\n')
    .map((line) => line.replaceAll(/^[ \t]+|[ \t\r]+$/g, ''))
    .filter((line) => line !== '');
  if (signer === undefined || encoded === undefined || more.length > 0)
    throw unreadable('it must have two lines, the signer and the signature');
  if (!SIGNER_ID.test(signer)) throw unreadable('its first line is no id of a signer');
  const signature = Buffer.from(encoded, 'base64');
  if (!BASE64_OF_64_BYTES.test(encoded) || signature.toString('base64') !== encoded)
    throw unreadable('its second line is not the base64 of 64 bytes');
  return { signer, signature };
}

function unreadable(why: string): PluginRefusal {
  return new PluginRefusal('signature_invalid', `The signature cannot be read: ${why}.`);
}

export function verifySignature(digest: Buffer, signature: Buffer, key: KeyObject): boolean {
  return key.asymmetricKeyType === 'ed25519' && verify(null, digest, key, signature);
}

/** The text of `SIGNATURE`. @throws for a key that is no Ed25519 private key, or an id that no signer can have */
export function signDigest(digest: Buffer, key: KeyObject, signer: string): string {
  if (!SIGNER_ID.test(signer))
    throw new PluginRefusal('usage_error', `${JSON.stringify(signer)} cannot be the id of a signer.`);
  if (key.type !== 'private' || key.asymmetricKeyType !== 'ed25519')
    throw new PluginRefusal('usage_error', 'Not an Ed25519 private key. Make one with svc plugin keygen.');
  return `${signer}\n${sign(null, digest, key).toString('base64')}\n`;
}

/**
 * The public keys in a folder, `<signer>.pem` each; none where there is no such folder.
 * @returns also a sentence for every file that is skipped
 * @throws the file system's error for a folder that cannot be read
 */
export async function readTrust(
  keysFolder: string,
): Promise<{ readonly keys: ReadonlyMap<string, KeyObject>; readonly problems: readonly string[] }> {
  const names = await readdir(keysFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const keys = new Map<string, KeyObject>();
  const problems: string[] = [];
  for (const name of names
    .filter((candidate) => candidate.endsWith('.pem'))
    .sort()
    .slice(0, MAX_KEYS)) {
    const signer = name.slice(0, -'.pem'.length);
    try {
      if (!SIGNER_ID.test(signer)) throw new Error('its name cannot be the id of a signer');
      const pem = (await readOwn(join(keysFolder, name), 0o022, MAX_KEY_BYTES)) ?? '';
      if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('it is no public key in PEM');
      const key = createPublicKey(pem);
      if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is no Ed25519 key');
      if (isWeakJwk(key.export({ format: 'jwk' }).x ?? ''))
        throw new Error('it is of a small order: anybody could sign for it');
      keys.set(signer, key);
    } catch (error) {
      problems.push(`${join(keysFolder, name)} is skipped: ${messageOf(error)}`);
    }
  }
  return { keys, problems };
}

/**
 * The signers that are revoked; nobody where there is no such file.
 * @throws for a file that cannot be read or is no JSON list of texts: to believe nobody is revoked would be the wrong guess
 */
export async function readRevocations(file: string): Promise<ReadonlySet<string>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Set();
    throw new Error(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (!Array.isArray(list) || !list.every((item): item is string => typeof item === 'string'))
    throw new Error(`${file} must be a JSON list of the ids of signers`);
  return new Set(list);
}

/** What `signerOf` needs of an archive. */
export interface Signed {
  readonly signatureText: string | null;
  digest(signal?: AbortSignal): Promise<{ readonly digest: Buffer }>;
}

/**
 * Who signed an archive, verified. With `required: false`, an archive without a signature or of an unknown signer has none
 * (null); one of a revoked signer, or one that was changed after it was signed, is refused all the same.
 * @throws PluginRefusal signature_missing, signature_revoked, signature_unknown_signer, signature_invalid
 */
export async function signerOf(
  archive: Signed,
  { keys, revoked }: Trust,
  { required = true, signal }: { readonly required?: boolean; readonly signal?: AbortSignal } = {},
): Promise<{ readonly signer: string | null }> {
  if (archive.signatureText === null) {
    if (!required) return { signer: null };
    throw new PluginRefusal('signature_missing', 'The archive is not signed. Sign it with svc plugin sign.');
  }
  const { signer, signature } = parseSignature(archive.signatureText);
  if (revoked.has(signer))
    throw new PluginRefusal('signature_revoked', `The signer ${signer} is revoked on this node.`);
  const key = keys.get(signer);
  if (key === undefined) {
    if (!required) return { signer: null };
    throw new PluginRefusal(
      'signature_unknown_signer',
      `The signer ${signer} is not trusted on this node. Put its public key into the folder of trusted keys as ${signer}.pem.`,
    );
  }
  const { digest } = await archive.digest(signal);
  if (!verifySignature(digest, signature, key))
    throw new PluginRefusal(
      'signature_invalid',
      `The archive is not what ${signer} signed. Get it again, from where ${signer} publishes it.`,
    );
  return { signer };
}
