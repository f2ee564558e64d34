import type { JsonSchema } from './json-schema.ts';

/** What the node says on a stream that one client at a time may send: set-points, sticks. */

export const heldStatus = {
  type: { const: 'status' },
  holder: { enum: ['you', 'other', null] },
  mode: { type: ['string', 'null'] },
  armed: { type: ['boolean', 'null'] },
} as const satisfies Readonly<Record<string, JsonSchema>>;

export const heldError = {
  type: 'object',
  required: ['type', 'code', 'detail'],
  properties: { type: { const: 'error' }, code: { type: 'string' }, detail: { type: 'string' } },
  additionalProperties: false,
} as const satisfies JsonSchema;
