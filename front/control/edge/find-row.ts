import type { Matcher, MatchResult, Template } from '../../../shared/routes/match.ts';
import type { Row, RowMethod } from '../../../shared/routes/row.ts';
import { NO_EXTRAS, type RequestHead } from './decision.ts';

export interface FoundRow {
  readonly kind: 'found';
  readonly row: Row | null;
  readonly policy: Row | null;
  readonly params: Readonly<Record<string, string>>;
  readonly policyParams: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: string;
  /** The methods of the path; empty if it has none. */
  readonly allow: string;
  /** The path has a WebSocket row. */
  readonly upgrade: boolean;
}

export type BadTarget = Extract<MatchResult, { kind: 'bad' }>;

const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const NOTHING: FoundRow = Object.freeze({
  kind: 'found',
  row: null,
  policy: null,
  params: NO_EXTRAS,
  policyParams: NO_EXTRAS,
  path: '',
  query: '',
  allow: '',
  upgrade: false,
});

export function findRow(
  request: RequestHead,
  match: Exclude<MatchResult, { kind: 'bad' }>,
  matcher: Matcher,
): FoundRow | BadTarget {
  if (match.kind === 'none') return NOTHING;
  const method = rowMethod(request);
  const { template, params, path, query } = match;
  const row = method === null ? undefined : (template.rows.get(method) ?? anyRow(template, method));
  if (row === undefined) {
    const methods = [...template.rows.keys()].flatMap((name) =>
      name === 'ANY' ? HTTP_METHODS : name === 'WS' ? [] : [name],
    );
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    return { ...NOTHING, path, query, allow: allow.join(', '), upgrade: template.rows.has('WS') };
  }
  const base = { ...NOTHING, row, params, policyParams: params, path, query };
  if (row.scope !== 'inner') return { ...base, policy: row };
  // Through the relay proxy the inner route's classes hold; an inner path without a row has none, so it is refused.
  const inner = matcher.match(`/${params['path'] ?? ''}`);
  const within = inner.kind === 'bad' ? inner : findRow(request, inner, matcher);
  if (within.kind === 'bad') return within;
  return within.row === null || within.row.scope === 'inner'
    ? { ...base, row: null, policy: null }
    : { ...base, policy: within.row, policyParams: within.params };
}

function anyRow(template: Template, method: RowMethod): Row | undefined {
  return method === 'WS' ? undefined : template.rows.get('ANY');
}

/** HEAD is treated as GET; null for a method that no row has. */
function rowMethod(request: RequestHead): RowMethod | null {
  if (request.upgrade) return request.method === 'GET' ? 'WS' : null;
  switch (request.method) {
    case 'HEAD':
      return 'GET';
    case 'GET':
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
      return request.method;
    default:
      return null;
  }
}
