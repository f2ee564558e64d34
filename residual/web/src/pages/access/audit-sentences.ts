import { PRINCIPAL_KINDS } from '../../../../../shared/auth/principal.ts';
import { keysOf, memberOf } from '../../../../../shared/member.ts';
import { ROW } from '../../api/rows.ts';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { auditWords } from './audit-words.ts';

/** What the audit says, in words: of each route that changes something there is a sentence, by the id of its row. */

const IDS = new Map(keysOf(ROW).map((id) => [`${ROW[id].method} ${ROW[id].path}`, id]));

/** The route of a request with a path as it was asked for, `PUT /api/params/RTL_ALT`; null: of none. Fixed paths come first. */
export function routeOf(asked: string): string | null {
  const [method, path = ''] = asked.split(/[ ?]/);
  const fits = (route: string): boolean =>
    new RegExp(`^${route.replaceAll(/\{\*\w+\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(
      `${method} ${path}`,
    );
  return IDS.has(`${method} ${path}`) ? `${method} ${path}` : ([...IDS.keys()].find(fits) ?? null);
}

/** @param route as recorded, `PUT /api/params/{name}` @param changed which parameter, setting, …; empty: none is named */
export function whatWords(route: string, changed: string, kind: 'done' | 'refused' | 'unknown'): string {
  const did = memberOf(auditWords.did, IDS.get(route) ?? '');
  const words = typeof did === 'string' ? did : auditWords.read({ what: route.replace(/^\S+ /, '') });
  const what = changed === '' ? words : `${words}: ${changed}`;
  return kind === 'done'
    ? what
    : kind === 'refused'
      ? auditWords.refused({ what })
      : auditWords.cut({ what });
}

/** Names of those whose ids the audit has: a session's device, a token's label. */
type Names = ReadonlyMap<string, string>;

export function useNames(everyMs: number): Names {
  const sessions = useAsk('dashboard.sessions.get', {}, everyMs).data;
  const tokens = useAsk('mcp.status.get', {}, everyMs).data;
  return new Map([
    ...(sessions?.sessions ?? []).map(({ id, device }) => [`session:${id}`, device ?? ''] as const),
    ...(tokens?.tokens ?? []).map(({ token_id: id, label }) => [id, label] as const),
  ]);
}

/** @param id of a principal @param kind of it, as recorded */
export function whoWords(id: string, kind: string, names: Names): string {
  const known = PRINCIPAL_KINDS.find((each) => each === kind);
  if (known === undefined) return id || t.access.audit.nobody;
  const words = auditWords.by[known];
  // Of the fleet the person who confirmed comes after the caller; of the others the id is behind a word.
  const said =
    names.get(id.replace(/^ticket of /, '')) ?? /^(?:fleet|extension|relay):(?:.*\/)?(.+)$/.exec(id)?.[1];
  return said === undefined || said === '' ? words : `${said} (${words})`;
}
