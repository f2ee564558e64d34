import { heldError, heldStatus } from './held-stream.ts';
import type { JsonSchema } from './json-schema.ts';

const axis = { type: 'number', minimum: -1000, maximum: 1000 } as const satisfies JsonSchema;

/** The sticks of `WS /api/manual/ws`, as in MANUAL_CONTROL: forward, right, up (500 is the middle), clockwise. */
export const sticks = {
  title: 'Sticks',
  type: 'object',
  required: ['type', 'x', 'y', 'z', 'r'],
  properties: {
    type: { const: 'manual' },
    x: axis,
    y: axis,
    z: { type: 'number', minimum: 0, maximum: 1000 },
    r: axis,
    buttons: { type: 'integer', minimum: 0, maximum: 0xffff, description: 'for ArduSub alone' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** What the node sends on this socket. */
export const manualMessage = {
  title: 'ManualMessage',
  oneOf: [
    {
      type: 'object',
      required: ['type', 'holder', 'mode', 'armed'],
      properties: heldStatus,
      additionalProperties: false,
    },
    heldError,
  ],
} as const satisfies JsonSchema;
