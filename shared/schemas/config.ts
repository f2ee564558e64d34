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

export const configPutAnswer = {
  title: 'ConfigPutAnswer',
  type: 'object',
  required: ['key', 'value', 'persisted', 'restart_required', 'cleared'],
  properties: {
    key: { type: 'string' },
    value: {},
    persisted: { type: 'boolean' },
    restart_required: { type: 'array', items: { type: 'string' } },
    cleared: {
      type: 'array',
      items: { type: 'string' },
      description: 'secrets that were cleared, because they would be sent to another host than before',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
