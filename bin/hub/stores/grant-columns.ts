import { isScope } from '../../../shared/auth/scopes.ts';
import { listOf, parseJson } from '../../../shared/member.ts';
import type { Grant } from '../api/caller.ts';

/** The columns `scopes` and `nodes`, as `grantTexts` writes them. */
export function grantOf(row: { readonly scopes: string; readonly nodes: string | null }): Grant {
  const scopes = listOf(parseJson(row.scopes)).filter(isScope);
  return { scopes, nodes: nodesOf(row) };
}

export function nodesOf({ nodes }: { readonly nodes: string | null }): readonly string[] | null {
  return nodes === null ? null : listOf(parseJson(nodes)).map(String);
}

export function nodesText({ nodes }: Pick<Grant, 'nodes'>): string | null {
  return nodes === null ? null : JSON.stringify(nodes);
}

export function grantTexts(grant: Grant): { readonly scopes: string; readonly nodes: string | null } {
  return { scopes: JSON.stringify(grant.scopes), nodes: nodesText(grant) };
}
