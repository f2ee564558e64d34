import type { JsonSchema } from './json-schema.ts';

const text = { type: ['string', 'null'] } as const satisfies JsonSchema;

export const capability = {
  title: 'SigningCapability',
  type: 'object',
  required: ['supported', 'reason', 'firmware_name', 'firmware_version', 'signing_params_present'],
  properties: {
    supported: { type: 'boolean' },
    reason: {
      enum: [
        'ok',
        'fc_not_connected',
        'firmware_px4_no_persistent_store',
        'firmware_not_supported',
        'firmware_too_old',
      ],
    },
    firmware_name: text,
    firmware_version: text,
    signing_params_present: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const require = {
  title: 'SigningRequired',
  type: 'object',
  required: ['require'],
  properties: {
    require: {
      type: ['boolean', 'null'],
      description: 'null: the vehicle has no SIGNING_REQUIRE, or has not sent it',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const requireRequest = {
  title: 'SigningRequireRequest',
  examples: [{ require: true }],
  type: 'object',
  required: ['require'],
  properties: { require: { type: 'boolean' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const requireSet = {
  title: 'SigningRequireAnswer',
  type: 'object',
  required: ['success', 'require'],
  properties: { success: { const: true }, require: { type: 'boolean' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const counters = {
  title: 'SigningCounters',
  type: 'object',
  required: [
    'tx_signed_count',
    'rx_signed_count',
    'rx_verified_count',
    'rx_bad_signature_count',
    'last_signed_rx_at',
    'signing',
    'key_id',
  ],
  properties: {
    tx_signed_count: { type: 'integer' },
    rx_signed_count: { type: 'integer' },
    rx_verified_count: { type: 'integer', description: 'signed with the key enrolled from here' },
    rx_bad_signature_count: { type: 'integer' },
    last_signed_rx_at: text,
    signing: { type: 'boolean', description: 'this node signs the frames it sends' },
    key_id: { ...text, description: 'first 8 hex characters of the SHA-256 of the key' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const enrolRequest = {
  title: 'SigningEnrolRequest',
  examples: [{ key_hex: '9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f', link_id: 1 }],
  type: 'object',
  required: ['key_hex'],
  properties: {
    key_hex: { type: 'string', pattern: '^(?!0{64}$)[0-9a-fA-F]{64}$', description: 'the key, not all zero' },
    link_id: { type: 'integer', minimum: 0, maximum: 255, default: 0 },
    target_system: {
      type: 'integer',
      minimum: 1,
      maximum: 255,
      description: 'the connected vehicle, if given',
    },
    target_component: { type: 'integer', minimum: 0, maximum: 255 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const enrolled = {
  title: 'SigningEnrolled',
  type: 'object',
  required: ['success', 'key_id', 'enrolled_at'],
  properties: {
    success: { const: true },
    key_id: { type: 'string' },
    enrolled_at: { type: 'string', description: 'ISO 8601' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const disabled = {
  title: 'SigningDisabled',
  type: 'object',
  required: ['success'],
  properties: { success: { const: true } },
  additionalProperties: false,
} as const satisfies JsonSchema;
