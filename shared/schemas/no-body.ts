import type { JsonSchema } from './json-schema.ts';

/** Of a route that needs to know nothing: `{}`, or no body at all. */
export const noBody = {
  title: 'NoBody',
  type: 'object',
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The override of the armed guard in a query, where there is no JSON body to say it in. */
export const forceQuery = {
  enum: ['0', '1'],
  description: '1 overrides the armed guard',
  examples: ['1'],
} as const satisfies JsonSchema;
