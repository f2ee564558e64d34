import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

/** X25519 keys of a radio's two ends, 32 raw bytes each, as in wfb-ng's key files. */

const KEY_BYTES = 32;
/** Everything before the 32 bytes in DER (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');

export interface RadioKeyPair {
  readonly secret: Buffer;
  readonly publicKey: Buffer;
}

export interface Agreement {
  /** First 32 hexadecimal digits of SHA-256 over both public keys, sorted, in groups of four. */
  readonly fingerprint: string;
  /** The key of the relay's TLS, 32 bytes. */
  readonly relaySecret: Buffer;
}

export function makeRadioKeys(): RadioKeyPair {
  const made = generateKeyPairSync('x25519').privateKey;
  const secret = made.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length);
  return { secret, publicKey: publicKeyOf(secret) };
}

/** @param secret 32 bytes */
export function publicKeyOf(secret: Buffer): Buffer {
  const spki = createPublicKey(privateKey(secret)).export({ format: 'der', type: 'spki' });
  return spki.subarray(SPKI.length);
}

/**
 * What both ends get from their own secret and the other's public key (docs/contract/ground.md#binding).
 * @throws Error for a public key that is not 32 bytes, or with which there is no agreement (a point of small order)
 */
export function agree(secret: Buffer, peerPublic: Buffer): Agreement {
  if (peerPublic.length !== KEY_BYTES) throw new Error('a public key has 32 bytes');
  const peer = createPublicKey({ key: Buffer.concat([SPKI, peerPublic]), format: 'der', type: 'spki' });
  const shared = diffieHellman({ privateKey: privateKey(secret), publicKey: peer });
  const both = Buffer.concat([publicKeyOf(secret), peerPublic].toSorted((a, b) => a.compare(b)));
  const digest = createHash('sha256').update(both).digest('hex').slice(0, 32);
  return {
    fingerprint: digest.match(/.{4}/g)?.join(' ') ?? '',
    relaySecret: Buffer.from(hkdfSync('sha256', shared, 'svc/relay/v1', both, KEY_BYTES)),
  };
}

function privateKey(secret: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
}
