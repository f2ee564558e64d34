import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isWeakKey } from '../auth/weak-key.ts';

/**
 * Signatures and keys of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the file itself (`Ed`), or over its
 * BLAKE2b-512 (`ED`). A key has an id of eight bytes; a signature carries it, and a comment that it covers too.
 */

const LEGACY = 'Ed';
const PREHASHED = 'ED';
const ID_BYTES = 8;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
/** What goes before the raw key in DER (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Of a secret key: algorithms, salt and limits of the password, id, seed and public key, checksum. */
const SECRET_BYTES = 158;
const SECRET_ID_AT = 54;
const MAX_LINE = 8192;

export interface PublicKey {
  /** 16 hexadecimal digits, as minisign shows it. */
  readonly id: string;
  readonly key: KeyObject;
}

export interface SecretKey extends PublicKey {}

/** Of a file that is too large for memory: its BLAKE2b-512. */
interface Digest {
  readonly blake2b512: Buffer;
}

/** @throws Error with a sentence, for a text that is no public key of minisign */
export function parsePublicKey(text: string): PublicKey {
  const bytes = decoded(lines(text)[1] ?? '', 2 + ID_BYTES + KEY_BYTES, 'the key');
  if (algorithmOf(bytes) !== LEGACY) throw new Error('It is no key for Ed25519.');
  if (isWeakKey(bytes.subarray(2 + ID_BYTES)))
    throw new Error('It is of a small order: anybody could sign for it.');
  return {
    id: idOf(bytes.subarray(2, 2 + ID_BYTES)),
    key: createPublicKey({
      key: Buffer.concat([SPKI, bytes.subarray(2 + ID_BYTES)]),
      format: 'der',
      type: 'spki',
    }),
  };
}

/** @throws Error with a sentence; also for a key with a password, which only minisign itself can open */
export function parseSecretKey(text: string): SecretKey {
  const bytes = decoded(lines(text)[1] ?? '', SECRET_BYTES, 'the key');
  if (algorithmOf(bytes) !== LEGACY) throw new Error('It is no key for Ed25519.');
  if (bytes.readUInt16BE(2) !== 0)
    throw new Error('The key has a password. Make one without: minisign -G -W, or sign with minisign.');
  const seed = bytes.subarray(SECRET_ID_AT + ID_BYTES, SECRET_ID_AT + ID_BYTES + KEY_BYTES);
  return {
    id: idOf(bytes.subarray(SECRET_ID_AT, SECRET_ID_AT + ID_BYTES)),
    key: createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }),
  };
}

/** A new pair of keys, as the two files of `minisign -G -W`. @param id eight random bytes */
export function makeKeys(id: Buffer): { readonly publicText: string; readonly secretText: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI.length);
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length);
  const secret = Buffer.alloc(SECRET_BYTES);
  secret.write(`${LEGACY}\0\0B2`, 'latin1');
  Buffer.concat([id, seed, raw]).copy(secret, SECRET_ID_AT);
  const open = Buffer.concat([Buffer.from(LEGACY), id, raw]).toString('base64');
  return {
    publicText: `${UNTRUSTED}minisign public key ${idOf(id)}\n${open}\n`,
    secretText: `${UNTRUSTED}minisign encrypted secret key\n${secret.toString('base64')}\n`,
  };
}

/**
 * The text of a signature, of the newer kind (`ED`).
 * @param comment one line, which the signature covers
 */
export function signText(content: Buffer | Digest, { id, key }: SecretKey, comment: string): string {
  const signature = sign(null, hashed(content), key);
  const head = Buffer.concat([Buffer.from(PREHASHED), Buffer.from(id, 'hex').toReversed(), signature]);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  return `${UNTRUSTED}signature from minisign secret key\n${head.toString('base64')}\n${TRUSTED}${comment}\n${whole.toString('base64')}\n`;
}

/**
 * @param keys whom to believe
 * @returns its trusted comment
 * @throws Error with a sentence: not readable, of no known key, not of this content
 */
export function verifyText(
  content: Buffer | Digest,
  signatureText: string,
  keys: readonly PublicKey[],
): string {
  const [untrusted = '', first = '', trusted = '', last = ''] = lines(signatureText);
  if (!untrusted.startsWith(UNTRUSTED) || !trusted.startsWith(TRUSTED))
    throw new Error('The signature is no signature of minisign.');
  const head = decoded(first, 2 + ID_BYTES + SIGNATURE_BYTES, 'the signature');
  const whole = decoded(last, SIGNATURE_BYTES, 'the signature of the comment');
  const algorithm = algorithmOf(head);
  if (algorithm !== LEGACY && algorithm !== PREHASHED)
    throw new Error('The signature is of an unknown kind.');
  const id = idOf(head.subarray(2, 2 + ID_BYTES));
  const signature = head.subarray(2 + ID_BYTES);
  const candidates = keys.filter((key) => key.id === id);
  if (candidates.length === 0) throw new Error(`It is signed by the key ${id}, which is not trusted here.`);
  const signed = algorithm === PREHASHED ? hashed(content) : content;
  if (!Buffer.isBuffer(signed))
    throw new Error('The signature is of the older kind: sign it with minisign -S -H.');
  const comment = trusted.slice(TRUSTED.length);
  const covered = Buffer.concat([signature, Buffer.from(comment)]);
  // Two keys may have one id.
  if (
    !candidates.some(({ key }) => verify(null, signed, key, signature) && verify(null, covered, key, whole))
  )
    throw new Error(`It is not what the key ${id} has signed.`);
  return comment;
}

function hashed(content: Buffer | Digest): Buffer {
  return Buffer.isBuffer(content) ? createHash('blake2b512').update(content).digest() : content.blake2b512;
}

/** @returns what `signText` and `verifyText` take of a file of any size */
export async function digestOf(path: string): Promise<Digest> {
  const hash = createHash('blake2b512');
  await pipeline(createReadStream(path), hash);
  return { blake2b512: hash.digest() };
}

function algorithmOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, 2);
}

/** Shown as a number of 64 bits, which lies in the file with its lowest byte first. */
function idOf(bytes: Buffer): string {
  return Buffer.from(bytes.toReversed()).toString('hex').toUpperCase();
}

function lines(text: string): string[] {
  return text.slice(0, MAX_LINE).split(/\r?\n/);
}

function decoded(line: string, bytes: number, what: string): Buffer {
  const buffer = Buffer.from(line, 'base64');
  if (buffer.length !== bytes || buffer.toString('base64') !== line)
    throw new Error(`Of a minisign file, ${what} is not the base64 of ${bytes} bytes.`);
  return buffer;
}
