import type { JsonSchema } from './json-schema.ts';

/** The messages on the link, as `GET /api/mavlink/messages` shows them. */

const byte = { type: 'integer', minimum: 0, maximum: 255 } as const satisfies JsonSchema;
const value = { type: ['string', 'number', 'null'] } as const satisfies JsonSchema;

export const messagesQuery = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Z0-9_]{1,64}$',
      examples: ['ATTITUDE'],
      description: 'only this message',
    },
  },
} as const satisfies JsonSchema;

export const seenMessages = {
  title: 'SeenMessages',
  type: 'object',
  required: ['messages'],
  properties: {
    messages: {
      type: 'array',
      items: {
        type: 'object',
        required: ['system', 'component', 'id', 'name', 'hz', 'bytes', 'age_s', 'last'],
        properties: {
          system: byte,
          component: byte,
          id: { type: 'integer', minimum: 0, maximum: 0xff_ff_ff },
          name: { type: ['string', 'null'], description: 'null: not in the dialect of the vehicle' },
          hz: { type: 'number', minimum: 0, description: 'of the last five seconds' },
          bytes: { type: 'integer', minimum: 0, description: 'all of its frames on the wire' },
          age_s: { type: 'number', minimum: 0 },
          last: {
            type: ['object', 'null'],
            description:
              'the newest, by the names of the fields; an integer that has too many digits is a text',
            additionalProperties: {
              anyOf: [value, { type: 'array', items: value }],
            },
          },
        },
      },
    },
  },
} as const satisfies JsonSchema;
