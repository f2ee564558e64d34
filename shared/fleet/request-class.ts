import { higher, type Scope } from '../auth/scopes.ts';
import { memberOf } from '../member.ts';
import { raisedByRequest } from '../routes/classes.ts';
import { neededScopes } from '../routes/needed-scopes.ts';
import { compileTable, ROWS } from '../routes/table.ts';

const { matcher } = compileTable(ROWS);

interface ClassedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
}

/**
 * The highest class of a request by the node's own table, what it names and its override, so that a caller and a person's signer
 * know whether a call needs a confirm. The node decides.
 * @returns null for what no caller of a fleet may send: no route, or one that takes no token
 */
export function requestClass({ method, path, body }: ClassedRequest): Scope | null {
  const found = matcher.match(path);
  if (found.kind !== 'found') return null;
  const row = [...found.template.rows.values()].find((each) => each.method === method);
  if (row === undefined || row.scope === 'inner') return null;
  const forced =
    body === undefined
      ? new URLSearchParams(found.query).getAll('force').join() === '1'
      : memberOf(body, 'force') === true;
  // Nobody here knows whether the vehicle is armed: an override counts as one.
  const overrides = forced && row.armed !== '-';
  const raised = raisedByRequest(row.names, found.params, body);
  if (row.access === 'public' && method !== 'GET') return null;
  const needed = neededScopes(row, raised, overrides)?.reduce(higher) ?? null;
  // Nobody here knows whether a fence is larger than the vehicle's: a person looks at each (docs/contract/edge.md#scope).
  return needed !== null && writesFence(row.id, found.query, body) ? 'destructive' : needed;
}

function writesFence(row: string, query: string, body: unknown): boolean {
  if (!['mission.put', 'fence.put', 'rally.put'].includes(row) || body === undefined) return false;
  const parts = new URLSearchParams(query).getAll('parts').join();
  return parts === '' ? row === 'fence.put' : parts.split(',').includes('fence');
}
