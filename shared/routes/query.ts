import type { JsonSchema } from '../schemas/json-schema.ts';
import { forceQuery } from '../schemas/no-body.ts';
import type { Row } from './row.ts';

/**
 * The query as an object of texts; null if a member occurs twice, because two readers could use different ones.
 * @param query without the question mark
 */
export function parseQuery(query: string): Readonly<Record<string, string>> | null {
  const members = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (members.has(name)) return null;
    members.set(name, value);
  }
  return Object.fromEntries(members);
}

/**
 * What the query of a row must be. Null where it is not ours to say: to pages, players and sockets programs add members of
 * their own, and what a row passes on (its path ends with `{*path}`) is read by an extension, an app or another node.
 */
export function querySchemaOf({ method, path, query }: Row): JsonSchema | null {
  if (query !== null) return query;
  if (method === 'WS' || !path.startsWith('/api/') || path.includes('{*')) return null;
  // An override that nobody needs is ignored.
  return { type: 'object', properties: { force: forceQuery }, additionalProperties: false };
}
