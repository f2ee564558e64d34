import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Row } from './row.ts';

const FORCE = { type: 'boolean', description: 'true overrides the armed guard' } as const;

/**
 * The schema for a request body of this row: the row's own, plus the member `force` if the armed guard can be overridden. Null
 * for a row without a JSON body.
 */
export function bodySchema(row: Row): JsonSchema | null {
  if (row.bodyKind !== 'json') return null;
  const own = row.body ?? { type: 'object', additionalProperties: false };
  if (row.armed === '-') return own;
  return { ...own, properties: { ...own.properties, force: FORCE } };
}
