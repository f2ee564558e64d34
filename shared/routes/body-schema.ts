import type { JsonSchema } from '../schemas/json-schema.ts';
import { noBody } from '../schemas/no-body.ts';
import type { Row } from './row.ts';

const FORCE = { type: 'boolean', description: 'true overrides the armed guard' } as const;
const FORCED = { ...noBody, title: 'ForceRequest', properties: { force: FORCE } } as const;

/**
 * The schema for a request body of this row: the row's own, plus the member `force` if the armed guard can be overridden. Null
 * for a row without a JSON body.
 */
export function bodySchema(row: Row): JsonSchema | null {
  if (row.bodyKind !== 'json') return null;
  const own: JsonSchema = row.body ?? noBody;
  if (row.armed === '-') return own;
  return own === noBody ? FORCED : { ...own, properties: { ...own.properties, force: FORCE } };
}
