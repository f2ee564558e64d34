import type { JsonSchema } from './json-schema.ts';

/** The telemetry logs of the node. */
export const tlogs = {
  title: 'TlogList',
  type: 'object',
  required: ['tlogs', 'writing', 'dropped', 'problem', 'free_bytes'],
  properties: {
    tlogs: {
      type: 'array',
      description: 'newest first',
      items: {
        title: 'Tlog',
        type: 'object',
        required: ['name', 'size_bytes', 'modified_at'],
        properties: {
          name: { type: 'string' },
          size_bytes: { type: 'integer', minimum: 0 },
          modified_at: { type: 'string', description: 'RFC 3339' },
        },
      },
    },
    writing: { type: ['string', 'null'], description: 'the one that is being written' },
    dropped: {
      type: ['integer', 'null'],
      description: 'frames that the disk did not take, or not in time; null: not known',
    },
    problem: { type: ['string', 'null'], description: 'why none is written' },
    free_bytes: { type: ['integer', 'null'], description: 'of the disk; null where none was written yet' },
  },
} as const satisfies JsonSchema;

export const tlogRemoved = {
  title: 'TlogRemoved',
  type: 'object',
  required: ['name', 'deleted'],
  properties: { name: { type: 'string' }, deleted: { const: true } },
} as const satisfies JsonSchema;
