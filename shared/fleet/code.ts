import { createHash, randomBytes, type X509Certificate } from 'node:crypto';

/** `svc1-<first 128 bits of the SHA-256 of the CA's certificate>-<one-time secret>`, both hexadecimal. */
const CODE = /^svc1-([0-9a-f]{32})-([0-9a-f]{32})$/;

export interface EnrolmentCode {
  readonly caHash: string;
  readonly secret: string;
}

export function parseCode(text: string): EnrolmentCode | null {
  const [, caHash, secret] = CODE.exec(text.trim().toLowerCase()) ?? [];
  return caHash === undefined || secret === undefined ? null : { caHash, secret };
}

export function newCodeSecret(): string {
  return randomBytes(16).toString('hex');
}

export function formatCode({ caHash, secret }: EnrolmentCode): string {
  return `svc1-${caHash}-${secret}`;
}

export function caHashOf(ca: X509Certificate): string {
  return createHash('sha256').update(ca.raw).digest('hex').slice(0, 32);
}
