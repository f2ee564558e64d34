import { createPrivateKey, X509Certificate } from 'node:crypto';
import { messageOf } from '../../../shared/errors.ts';

/** A certificate with its key. */
export interface Pair {
  /** PEM: the certificate, and those above it. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
  readonly certificate: X509Certificate;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[^-]+-----END (?:EC |RSA )?PRIVATE KEY-----/;

/**
 * @param chain text with certificates in PEM, the own one first
 * @param key text with its private key in PEM
 * @throws Error naming the file, if something is missing, or the key is another's
 */
export function pairOf(chain: string, key: string, file: string): Pair {
  const certificates = chain.match(CERTIFICATE);
  const [first] = certificates ?? [];
  if (certificates === null || first === undefined) throw new Error(`${file} has no certificate in PEM`);
  const privateKey = PRIVATE_KEY.exec(key)?.[0];
  if (privateKey === undefined) throw new Error(`${file} has no private key in PEM`);
  let fits: boolean;
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(first);
    fits = certificate.checkPrivateKey(createPrivateKey(privateKey));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (!fits) throw new Error(`${file}: the private key is not that of the certificate`);
  return { chain: `${certificates.join('\n')}\n`, key: `${privateKey}\n`, certificate };
}
