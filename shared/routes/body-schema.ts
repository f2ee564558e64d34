import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Row } from './row.ts';

const FORCE = { type: 'boolean', description: 'true overrides the armed guard' } as const;

/**
 * The schema that a request body of this row is held against: the row's own, and where the armed guard may be overridden
 * the member `force`. Null for a row that takes no JSON.
 */
export function bodySchema(row: Row): JsonSchema | null {
  if (row.bodyKind !== 'json') return null;
  const own = row.body ?? { type: 'object', additionalProperties: false };
  if (row.armed === '-') return own;
  return { ...own, properties: { ...own.properties, force: FORCE } };
}
