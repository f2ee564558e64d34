import 'reflect-metadata'; // asked for by @peculiar/x509, before it is loaded
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  NameConstraints,
} from '@peculiar/asn1-x509';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  type X509CertificateCreateWithKeyParams,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { CERTIFICATE_ALGORITHM, certificateRequest, newCertificateKey } from './request.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
/** A machine with a clock that is late must be able to connect. */
const NOT_BEFORE = new Date(Date.UTC(2020, 0, 1));
const YEAR_MS = 365 * 24 * 3600 * 1000;
const CA_YEARS = 20;

/** A certificate authority: PEM of the certificate and of its private key. */
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

/** Names and networks that an authority may vouch for: `svc-1a2b3c.local` (and what is below it), `10.0.0.0/8`. */
interface Permitted {
  readonly names: readonly string[];
  readonly networks: readonly string[];
}

/**
 * @param name its subject
 * @param permitted what it may vouch for (RFC 5280, 4.2.1.10); null: anything
 */
export async function newAuthority(
  name: string,
  now: number,
  permitted: Permitted | null = null,
): Promise<Authority> {
  const key = newCertificateKey();
  const { publicKey } = new Pkcs10CertificateRequest((await certificateRequest(key)).pem);
  const subject = [{ CN: [name] }];
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial(),
      subject,
      issuer: subject,
      notBefore: NOT_BEFORE,
      notAfter: new Date(now + CA_YEARS * YEAR_MS),
      publicKey,
      signingKey: await signingKey(key),
      signingAlgorithm: CERTIFICATE_ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(publicKey, false, provider),
        ...(permitted === null ? [] : [constraints(permitted)]),
      ],
    },
    provider,
  );
  return { certificate: certificate.toString('pem'), key };
}

function constraints({ names, networks }: Permitted): Extension {
  const subtrees = [
    ...names.map((dNSName) => new GeneralSubtree({ base: new GeneralName({ dNSName }) })),
    ...networks.map((iPAddress) => new GeneralSubtree({ base: new GeneralName({ iPAddress }) })),
  ];
  const value = new NameConstraints({ permittedSubtrees: new GeneralSubtrees(subtrees) });
  return new Extension(id_ce_nameConstraints, true, AsnConvert.serialize(value));
}

/**
 * A certificate for the key in a request, whose signature is checked; the subject is ours to say.
 * @param csr PKCS #10, PEM or DER
 * @param from its first moment
 * @returns PEM
 * @throws Error for a request that is none, or whose key is not ECDSA P-256
 */
export async function issueCertificate(
  authority: Authority,
  csr: string | Buffer,
  what: IssuedFor,
  now: number,
  days = 365,
  from = NOT_BEFORE,
): Promise<string> {
  const request = new Pkcs10CertificateRequest(typeof csr === 'string' ? csr : Uint8Array.from(csr));
  const { name, namedCurve }: { name: string; namedCurve?: string } = request.publicKey.algorithm;
  if (name !== 'ECDSA' || namedCurve !== 'P-256') throw new Error('the key is not ECDSA P-256');
  if (!(await request.verify(provider))) throw new Error('the request is not signed by its key');
  const server = 'server' in what;
  const issuer = new X509Certificate(authority.certificate);
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial(),
      subject: [{ CN: [server ? what.server : what.client] }],
      issuer: issuer.subjectName,
      notBefore: from,
      notAfter: new Date(now + days * 24 * 3600 * 1000),
      publicKey: request.publicKey,
      signingKey: await signingKey(authority.key),
      signingAlgorithm: CERTIFICATE_ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        // Python 3.13 and others refuse a certificate that does not name its authority's key.
        await AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, provider),
        await SubjectKeyIdentifierExtension.create(request.publicKey, false, provider),
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
