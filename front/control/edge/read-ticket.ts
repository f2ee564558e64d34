import type { Matcher, MatchResult } from '../../../shared/routes/match.ts';
import type { Row } from '../../../shared/routes/row.ts';

/**
 * Read tickets in a request target (docs/contract/credentials.md#read-tickets). They are taken out before anything else looks at it, valid or not, so
 * that none reaches a handler, another process or a log.
 */

/** What is left of a request target, and what it is. */
export interface Shown {
  readonly target: string;
  readonly match: MatchResult;
  /** The one ticket that was shown where its row takes it; null for none, and for more than one. */
  readonly ticket: string | null;
}

/** @param target the raw request target */
export function takeReadTicket(target: string, matcher: Matcher): Shown {
  const match = matcher.match(target);
  const row = match.kind === 'found' ? match.template.rows.get('GET') : undefined;
  if (match.kind !== 'found' || row === undefined || row.readTicket === null)
    return { target, match, ticket: null };
  const parts = match.query.split('&');
  const inQuery = parts.filter(isTicket);
  const segments = row.readTicket === 'segment' ? restOf(row, match.params).split('/') : [];
  const files = segments.findIndex((segment) => !segment.startsWith('~'));
  const inPath = segments.slice(0, files === -1 ? segments.length : files);
  if (inQuery.length + inPath.length === 0) return { target, match, ticket: null };
  const kept = parts.filter((part) => !isTicket(part)).join('&');
  const folder = readTicketPath(row, match.path, match.params);
  const path = [folder, ...segments.slice(inPath.length)].join('/');
  const clean = kept === '' ? path : `${path}?${kept}`;
  const [ticket] =
    row.readTicket === 'segment'
      ? inPath.map((segment) => segment.slice(1))
      : inQuery.map((part) => (part.startsWith('ticket=') ? part.slice('ticket='.length) : ''));
  const one = inQuery.length + inPath.length === 1 && ticket !== undefined && ticket !== '';
  return { target: clean, match: matcher.match(clean), ticket: one ? ticket : null };
}

/** The path that a ticket for this request must name: its own, or that of the folder which the rest of it is in. */
export function readTicketPath(
  row: Pick<Row, 'path' | 'readTicket'>,
  path: string,
  params: Readonly<Record<string, string>>,
): string {
  // In a rest parameter nothing is encoded, so it is as long as in the path.
  return row.readTicket === 'segment' ? path.slice(0, -restOf(row, params).length - 1) : path;
}

function restOf({ path }: Pick<Row, 'path'>, params: Readonly<Record<string, string>>): string {
  return params[path.slice(path.indexOf('{*') + 2, -1)] ?? '';
}

/** In any spelling of its name, so that none is passed on. */
function isTicket(part: string): boolean {
  return new URLSearchParams(part).has('ticket');
}
