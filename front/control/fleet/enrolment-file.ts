import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { publicJwk } from '../../../shared/fleet/signed.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

const text = { type: 'string' } as const;
const time = { type: 'integer', description: 'ms since 1970' } as const;

const record = {
  type: 'object',
  required: [
    'version',
    'hub',
    'fleet',
    'node',
    'broker',
    'ca',
    'certificate',
    'certified_at',
    'key',
    'signing_key',
    'enrolled_at',
  ],
  properties: {
    version: { const: 1 },
    hub: text,
    fleet: text,
    node: text,
    broker: text,
    ca: text,
    certificate: text,
    certified_at: { ...time, description: 'when the certificate came, ms since 1970' },
    key: { ...text, description: 'of the certificate, PKCS #8 PEM' },
    signing_key: { ...text, description: 'Ed25519, PKCS #8 PEM' },
    enrolled_at: time,
  },
  additionalProperties: false,
} as const;

/** `fleet.json`: this node's place in a fleet, with its two keys. */
export type EnrolmentRecord = Readonly<FromSchema<typeof record>>;

const isRecord = validatorOf(record);

/** Null: not enrolled. @throws Error saying why the file cannot be used */
export async function readEnrolment(file: string, node: string): Promise<EnrolmentRecord | null> {
  const content = await readPrivate(file);
  if (content === null) return null;
  const value: unknown = JSON.parse(content);
  const violations = isRecord(value);
  if (violations !== null)
    throw new Error(faultOf(violations[0] ?? { path: '', message: 'is not valid' }, 'it'));
  const found = value as EnrolmentRecord;
  // With a copy of the file, two machines would be one node of the fleet.
  if (found.node !== node) throw new Error('it belongs to another node');
  if (!new X509Certificate(found.certificate).checkPrivateKey(createPrivateKey(found.key)))
    throw new Error('its certificate is of another key');
  publicJwk(createPrivateKey(found.signing_key));
  return found;
}

/** @throws the file system's own error; nothing has changed then */
export async function writeEnrolment(file: string, enrolment: EnrolmentRecord): Promise<void> {
  await writeAtomic(file, `${JSON.stringify(enrolment, null, 2)}\n`, 0o600);
}
