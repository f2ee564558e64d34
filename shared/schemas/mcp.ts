import { SCOPES } from '../auth/scopes.ts';
import type { JsonSchema } from './json-schema.ts';
import { shownName } from './shown-name.ts';

const tokenId = { type: 'string', description: 'mct_ and 24 hex digits' } as const;
const label = {
  ...shownName,
  maxLength: 64,
  description: 'its name for people',
} as const;
const scopes = {
  type: 'array',
  items: { enum: SCOPES },
  description: 'scope classes; none implies another',
} as const;
const expiresAt = { type: 'integer', description: 'ms since 1970' } as const;

export const mcpStatus = {
  title: 'McpStatus',
  type: 'object',
  required: ['accept_enabled', 'any_minted', 'tokens', 'problem'],
  properties: {
    accept_enabled: {
      type: 'boolean',
      description: 'whether tokens are accepted; changed by svc mcp enable',
    },
    any_minted: { type: 'boolean' },
    tokens: {
      type: 'array',
      description: 'newest first; without their secrets, which are stored nowhere',
      items: {
        type: 'object',
        required: [
          'token_id',
          'label',
          'scopes',
          'allowed_nodes',
          'created_at',
          'expires_at',
          'revoked',
          'expired',
        ],
        properties: {
          token_id: tokenId,
          label: { type: 'string' },
          scopes,
          allowed_nodes: { type: 'array', items: { type: 'string' } },
          created_at: { type: 'number', description: 'seconds since 1970' },
          expires_at: expiresAt,
          revoked: { type: 'boolean' },
          expired: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
    problem: { type: ['string', 'null'], description: 'why no token is accepted or minted' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mintRequest = {
  title: 'McpMintRequest',
  examples: [{ label: 'laptop', scopes: ['read', 'flight'], ttl_ms: 86_400_000 }],
  type: 'object',
  required: ['scopes'],
  'x-says': 'asks for secret_read without read, and secret_read adds secrets to a read',
  anyOf: [
    { properties: { scopes: { type: 'array', contains: { const: 'read' } } } },
    { properties: { scopes: { type: 'array', not: { contains: { const: 'secret_read' } } } } },
  ],
  properties: {
    label,
    scopes: { ...scopes, minItems: 1, maxItems: 6, uniqueItems: true },
    ttl_ms: {
      type: 'integer',
      minimum: 1,
      description: 'ms; limited to 1 to 365 days; 30 days if absent',
    },
    allowed_nodes: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 128 },
      maxItems: 32,
      description: 'advice to the client; the token is bound to this node anyway',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mintAnswer = {
  title: 'McpMintAnswer',
  type: 'object',
  required: ['token_id', 'token', 'expires_at', 'scopes', 'label'],
  properties: {
    token_id: tokenId,
    token: { type: 'string', description: 'for the header x-svc-mcp-token; shown only once' },
    expires_at: expiresAt,
    scopes,
    label: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const revokeRequest = {
  title: 'McpRevokeRequest',
  examples: [{ token_id: 'mct_00112233445566778899aabb' }, { all: true }],
  type: 'object',
  description: 'either token_id or all, not both',
  properties: {
    token_id: { type: 'string', minLength: 1, maxLength: 128, description: 'the token to end' },
    all: { const: true, description: 'every token ends' },
  },
  'x-says': 'needs either token_id or all',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const revokeAnswer = {
  title: 'McpRevokeAnswer',
  type: 'object',
  required: ['all', 'revoked'],
  properties: {
    all: { type: 'boolean' },
    revoked: { type: 'array', items: tokenId, description: 'the tokens now void' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
