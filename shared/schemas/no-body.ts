import type { JsonSchema } from './json-schema.ts';

/** Of a route that needs to know nothing: `{}`, or no body at all. */
export const noBody = {
  title: 'NoBody',
  type: 'object',
  additionalProperties: false,
} as const satisfies JsonSchema;
