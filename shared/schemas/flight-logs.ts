import type { JsonSchema } from './json-schema.ts';

export const flightLogList = {
  title: 'FlightLogList',
  type: 'object',
  required: ['logs', 'count', 'from', 'note'],
  properties: {
    logs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'size', 'time', 'held', 'complete'],
        properties: {
          id: { type: 'integer' },
          size: { type: 'integer', description: 'bytes' },
          time: { type: ['string', 'null'], description: 'ISO 8601; null: the vehicle does not know it' },
          held: { type: 'integer', description: 'bytes of it, from the start, on this node' },
          complete: {
            type: 'boolean',
            description: 'whether that is all there is of it; fewer than `size` where the vehicle lists more than it has',
          },
        },
        additionalProperties: false,
      },
    },
    count: { type: 'integer' },
    from: { enum: ['vehicle', 'node'] },
    note: { type: ['string', 'null'], description: 'why the list is not what one may expect' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const flightLogsErased = {
  title: 'FlightLogsErased',
  type: 'object',
  required: ['erased', 'left'],
  properties: {
    erased: { type: 'integer' },
    left: { type: 'integer', description: 'ArduPilot starts a new log at once' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
