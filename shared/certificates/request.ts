import 'reflect-metadata'; // asked for by @peculiar/x509, before it is loaded
import { createPrivateKey, generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import { type Pkcs10CertificateRequestCreateParams, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

/** ECDSA P-256 with SHA-256, as the hub's CA signs and asks for. */
export const CERTIFICATE_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** @returns a new private key, PKCS #8 in PEM */
export function newCertificateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A request for a certificate of this key (PKCS #10). Who it is for, the hub knows by other means. */
export async function certificateRequest(
  keyPem: string,
): Promise<{ readonly pem: string; readonly der: Buffer }> {
  const keys = await webKeys(createPrivateKey(keyPem));
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name: 'CN=svc', keys, signingAlgorithm: CERTIFICATE_ALGORITHM },
    webcrypto as Parameters<typeof Pkcs10CertificateRequestGenerator.create>[1],
  );
  return { pem: request.toString('pem'), der: Buffer.from(request.rawData) };
}

async function webKeys(key: KeyObject): Promise<Pkcs10CertificateRequestCreateParams['keys']> {
  const { subtle } = webcrypto;
  const { d: _private, ...open } = key.export({ format: 'jwk' });
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('jwk', key.export({ format: 'jwk' }), CERTIFICATE_ALGORITHM, true, ['sign']),
    subtle.importKey('jwk', open, CERTIFICATE_ALGORITHM, true, ['verify']),
  ]);
  // Two declarations of the same web type: Node's and the library's.
  return { privateKey, publicKey } as unknown as Pkcs10CertificateRequestCreateParams['keys'];
}
