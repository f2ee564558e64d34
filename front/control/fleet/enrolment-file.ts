import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { publicJwk } from '../../../shared/fleet/signed.ts';
import { JsonFile } from '../../../shared/json-file.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';

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
    broker_ws: text,
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

const validate = fileValidatorOf(record);

function fileOf(path: string): JsonFile<EnrolmentRecord> {
  return new JsonFile(path, validate, { mode: 0o600, indent: 2 });
}

/** Null: not enrolled. @throws Error saying why the file cannot be used */
export async function readEnrolment(file: string, node: string): Promise<EnrolmentRecord | null> {
  const found = await fileOf(file).read();
  if (found === null) return null;
  // With a copy of the file, two machines would be one node of the fleet.
  if (found.node !== node) throw new Error('it belongs to another node');
  if (!new X509Certificate(found.certificate).checkPrivateKey(createPrivateKey(found.key)))
    throw new Error('its certificate is of another key');
  publicJwk(createPrivateKey(found.signing_key));
  return found;
}

/** @throws the file system's own error; nothing has changed then */
export async function writeEnrolment(file: string, enrolment: EnrolmentRecord): Promise<void> {
  await fileOf(file).write(enrolment);
}
