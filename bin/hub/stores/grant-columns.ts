import { isScope } from '../../../shared/auth/scopes.ts';
import { type Grant, type Reach, reachOf } from '../../../shared/hub-api/caller.ts';
import { listOf, parseJson } from '../../../shared/member.ts';

interface ReachColumns {
  readonly nodes: string | null;
  readonly tags: string;
}

/** The columns `scopes`, `nodes` and `tags`, as `grantTexts` writes them. */
export function grantOf(row: ReachColumns & { readonly scopes: string }): Grant {
  const scopes = listOf(parseJson(row.scopes)).filter(isScope);
  return { scopes, ...reachIn(row) };
}

export function reachIn({ nodes, tags }: ReachColumns): Reach {
  return reachOf(nodes === null ? null : textsOf(nodes), textsOf(tags));
}

export function reachTexts({ nodes, tags }: Reach): ReachColumns {
  return { nodes: nodes === null ? null : JSON.stringify(nodes), tags: JSON.stringify(tags) };
}

export function grantTexts(grant: Grant): ReachColumns & { readonly scopes: string } {
  return { scopes: JSON.stringify(grant.scopes), ...reachTexts(grant) };
}

/** A JSON list of texts. */
export function textsOf(json: string): readonly string[] {
  return listOf(parseJson(json)).map(String);
}
