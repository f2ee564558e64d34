import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

export const UPDATE_STEPS = [
  'idle',
  'verifying',
  'unpacking',
  'switching',
  'checking',
  'done',
  'returned',
  'failed',
] as const;

/** The answer of GET /api/v1/system/update, and of svc-helper. */
export const updateStatus = {
  title: 'UpdateStatus',
  type: 'object',
  required: ['running', 'previous', 'step', 'percent', 'error'],
  properties: {
    running: { type: 'string', description: 'the version that runs' },
    previous: { type: ['string', 'null'], description: 'the previous version, while it is installed' },
    step: { enum: UPDATE_STEPS },
    percent: { type: ['number', 'null'], minimum: 0, maximum: 100, description: 'of this step' },
    error: { type: ['string', 'null'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
export type UpdateStatus = FromSchema<typeof updateStatus>;
