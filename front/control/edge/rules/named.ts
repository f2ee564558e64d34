import { holdsKey } from '../../../../shared/routes/may.ts';
import { neededScopes } from '../../../../shared/routes/needed-scopes.ts';
import { type Refusal, refuse } from '../decision.ts';
import { lacksScope } from '../lacks-scope.ts';
import type { BodyAsk } from './body-ask.ts';

/** What nobody may change over the API. */
export function rootAlone({ pass: { row, principal, cors }, raised }: BodyAsk): Refusal | null {
  const root = raised.find((each) => each.class === 'root');
  if (root === undefined) return null;
  return refuse('scope', 'E_ROOT_ONLY', cors, {
    row,
    principal,
    detail: `${root.name} can only be changed by root on the node, not over the API: it ${root.reason}.`,
  });
}

/** The scopes of the row, of what the request names, and of an override. */
export function withScopes({ pass, raised, overrides }: BodyAsk): Refusal | null {
  const { policy, principal } = pass;
  const { scopes } = principal;
  const needed = neededScopes(policy, raised, overrides);
  if (raised.some((each) => each.class === 'keyonly') && !holdsKey(principal))
    return lacksScope(pass, raised, overrides);
  if (scopes !== null && needed?.every((scope) => scopes.includes(scope)) !== true)
    return lacksScope(pass, raised, overrides);
  return null;
}
