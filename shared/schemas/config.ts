import type { JsonSchema } from './json-schema.ts';

export const configPutRequest = {
  title: 'ConfigPutRequest',
  examples: [{ key: 'agent.name', value: 'drone-1' }],
  type: 'object',
  required: ['key', 'value'],
  properties: {
    key: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'dotted path, for example mavlink.source',
    },
    value: { description: 'a JSON value, or its text' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configSecretAnswer = {
  title: 'ConfigSecretAnswer',
  type: 'object',
  required: ['key', 'value', 'set'],
  properties: {
    key: { type: 'string' },
    value: { description: 'the value; null where none was set' },
    set: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The members that have a use for those who ask; all of them: GET /api/config/schema. */
export const shownConfig = {
  title: 'ShownConfig',
  type: 'object',
  required: ['api', 'fleet'],
  properties: {
    api: { type: 'object', required: ['port'], properties: { port: { type: 'integer' } } },
    fleet: {
      type: 'object',
      required: ['operators', 'scopes'],
      properties: {
        operators: {
          type: 'array',
          items: { type: 'string' },
          description: 'whose confirmation counts: `name key` each, the key their Ed25519 public key',
        },
        scopes: {
          type: 'array',
          items: { type: 'string' },
          description: 'the scopes that fleet calls may use',
        },
      },
    },
  },
} as const satisfies JsonSchema;

export const configPutAnswer = {
  title: 'ConfigPutAnswer',
  type: 'object',
  required: ['key', 'value', 'persisted', 'restart_required', 'cleared', 'note'],
  properties: {
    key: { type: 'string' },
    value: {},
    persisted: { type: 'boolean' },
    restart_required: { type: 'array', items: { type: 'string' } },
    cleared: {
      type: 'array',
      items: { type: 'string' },
      description: 'secrets cleared because they would go to a different host',
    },
    note: { type: ['string', 'null'], description: 'why it changes nothing; null: it does' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
