import 'reflect-metadata'; // asked for by @peculiar/x509, before it is loaded
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509Certificate,
  type X509CertificateCreateWithKeyParams,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { CERTIFICATE_ALGORITHM, certificateRequest, newCertificateKey } from './client-certificate.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** A machine with a clock that is late must be able to connect. */
const NOT_BEFORE = new Date(Date.UTC(2020, 0, 1));
const YEAR_MS = 365 * 24 * 3600 * 1000;
const CA_YEARS = 20;

/** The fleet's own certificate authority: PEM of the certificate and of its private key. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}

/** What an issued certificate is for. A server's has the names and addresses under which it is reached. */
export type IssuedFor =
  | { readonly client: string }
  | { readonly server: string; readonly names: readonly string[] };

type SigningKey = X509CertificateCreateWithKeyParams['signingKey'];
/** Node's; the library names the web's type, which a build without a browser's types does not have. */
const provider = webcrypto as Parameters<typeof X509CertificateGenerator.create>[1];

export async function newAuthority(fleet: string, now: number): Promise<Authority> {
  const key = newCertificateKey();
  const { publicKey } = new Pkcs10CertificateRequest((await certificateRequest(key)).pem);
  const name = `CN=svc fleet ${fleet}`;
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial(),
      subject: name,
      issuer: name,
      notBefore: NOT_BEFORE,
      notAfter: new Date(now + CA_YEARS * YEAR_MS),
      publicKey,
      signingKey: await signingKey(key),
      signingAlgorithm: CERTIFICATE_ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    provider,
  );
  return { certificate: certificate.toString('pem'), key };
}

/**
 * A certificate for the key in a request, whose signature is checked; the subject is ours to say.
 * @param csr PKCS #10, PEM or DER
 * @returns PEM
 * @throws Error for a request that is none, or whose key is not ECDSA P-256
 */
export async function issueCertificate(
  authority: Authority,
  csr: string | Buffer,
  what: IssuedFor,
  now: number,
  days = 365,
): Promise<string> {
  const request = new Pkcs10CertificateRequest(typeof csr === 'string' ? csr : Uint8Array.from(csr));
  const { name, namedCurve }: { name: string; namedCurve?: string } = request.publicKey.algorithm;
  if (name !== 'ECDSA' || namedCurve !== 'P-256') throw new Error('the key is not ECDSA P-256');
  if (!(await request.verify(provider))) throw new Error('the request is not signed by its key');
  const server = 'server' in what;
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial(),
      subject: [{ CN: [server ? what.server : what.client] }],
      issuer: new X509Certificate(authority.certificate).subjectName,
      notBefore: NOT_BEFORE,
      notAfter: new Date(now + days * 24 * 3600 * 1000),
      publicKey: request.publicKey,
      signingKey: await signingKey(authority.key),
      signingAlgorithm: CERTIFICATE_ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([server ? SERVER_AUTH : CLIENT_AUTH]),
        ...(server ? [new SubjectAlternativeNameExtension(what.names.map(generalName))] : []),
      ],
    },
    provider,
  );
  return certificate.toString('pem');
}

function generalName(value: string): JsonGeneralNames[number] {
  return { type: isIP(value) === 0 ? 'dns' : 'ip', value };
}

/** Positive, as RFC 5280 asks. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes.toString('hex');
}

async function signingKey(pem: string): Promise<SigningKey> {
  const jwk = createPrivateKey(pem).export({ format: 'jwk' });
  // Two declarations of the same web type: Node's and the library's.
  return (await webcrypto.subtle.importKey('jwk', jwk, CERTIFICATE_ALGORITHM, false, [
    'sign',
  ])) as unknown as SigningKey;
}
