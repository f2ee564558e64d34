import type { JsonSchema } from './json-schema.ts';

/** The serial ports on which a flight controller may be. */

const text = { type: ['string', 'null'] } as const satisfies JsonSchema;

export const serialPorts = {
  title: 'SerialPorts',
  type: 'object',
  required: ['ports'],
  properties: {
    ports: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'description', 'by_id'],
        properties: {
          path: { type: 'string' },
          description: { type: 'string' },
          by_id: { ...text, description: 'its name under /dev/serial/by-id, which survives replugging' },
        },
      },
    },
  },
} as const satisfies JsonSchema;
