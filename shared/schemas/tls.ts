import type { JsonSchema } from './json-schema.ts';

const sha256 = {
  type: ['string', 'null'],
  pattern: '^[0-9a-f]{64}$',
  examples: ['17cc5bdf60321dddd55d3498c0586a101919764e092a6b44f83aa4a88295e018'],
} as const;

/** What a client that pairs keeps, so that it knows the node again. */
export const tlsPin = {
  type: 'object',
  required: ['port', 'authority_sha256'],
  properties: {
    port: { type: ['integer', 'null'], examples: [8443], description: 'of HTTPS; null: not served' },
    authority_sha256: {
      ...sha256,
      description: "SHA-256 of the node's certificate authority (GET /ca.crt); null: it has none of its own",
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const tlsInfo = {
  title: 'TlsInfo',
  type: 'object',
  required: [
    'port',
    'authority_sha256',
    'authority_not_after',
    'leaf_sha256',
    'not_after',
    'names',
    'problem',
  ],
  properties: {
    ...tlsPin.properties,
    authority_not_after: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'end of the authority; null: none of its own',
    },
    leaf_sha256: { ...sha256, description: "SHA-256 of the node's certificate; null: none" },
    not_after: { type: ['string', 'null'], format: 'date-time', description: 'end of that certificate' },
    names: { type: 'array', items: { type: 'string' }, description: 'the names and addresses it is for' },
    problem: {
      type: ['string', 'null'],
      description: 'why HTTPS is not served, or its certificate is an older one',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
