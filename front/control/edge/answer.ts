import { isScope } from '../../../shared/auth/scopes.ts';
import { isClientId } from '../../../shared/flight/pilot.ts';
import { raisedByRequest } from '../../../shared/routes/classes.ts';
import { mayUse } from '../../../shared/routes/may.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { unserved } from '../../../shared/routes/served.ts';
import { type EdgeState, type Pass, type Refusal, refuse } from './decision.ts';
import type { FoundRow } from './find-row.ts';
import { lacksScope } from './lacks-scope.ts';

/** A request whose caller is known. */
interface Identified extends Pick<Pass, 'rule' | 'row' | 'principal' | 'cors' | 'counted'> {
  readonly found: FoundRow;
  /** What its header says. */
  readonly clientId: string | null;
}

/** Steps 10 and 11, after the caller is known. */
export function answer(request: Identified, state: EdgeState): Pass | Refusal {
  const { rule, row, found, principal, clientId, cors, counted } = request;
  const policy = found.policy ?? row;
  const missing = missingFeature(row, state);
  // Where the body may add a class, the refusal waits for it, so that it can say all that is missing.
  const waits = missing === null && isScope(policy.scope) && mayNeedMore(policy) && principal.scopes !== null;
  if (!waits && !mayUse(policy, principal))
    return lacksScope(
      { policy, row, principal, cors },
      raisedByRequest(policy.names, found.policyParams, undefined),
      false,
    );
  if (missing !== null) return refuse('feature', 'E_NOT_IMPLEMENTED', cors, { row, principal, ...missing });
  return Object.freeze({
    kind: 'pass',
    rule,
    row,
    policy,
    params: found.params,
    policyParams: found.policyParams,
    path: found.path,
    query: found.query,
    target: null,
    principal,
    clientId: clientId ?? (row.method === 'WS' ? clientIdIn(found.query) : null),
    cors,
    forced: false,
    counted,
  });
}

/** A browser opens a WebSocket without headers of its own. */
function clientIdIn(query: string): string | null {
  const named = new URLSearchParams(query).getAll('client_id');
  return named.length === 1 && isClientId(named[0]) ? named[0] : null;
}

/** Whether what a request names, or its override, can add to the class of the row. */
function mayNeedMore(policy: Row): boolean {
  return policy.bodyKind === 'json' && (policy.names.length > 0 || isOverridable(policy));
}

/** Whether the armed guard applies to the row, or to what is sent through its socket later. */
export function isOverridable({ armed, query }: Row): boolean {
  return armed !== '-' || query?.properties?.['force'] !== undefined;
}

function missingFeature(row: Row, state: EdgeState): Pick<Refusal, 'detail' | 'extras'> | null {
  const { feature, method, path } = row;
  const extras = { feature, profile: state.profile };
  switch (unserved(row, state)) {
    case 'feature':
      return { detail: `The feature ${feature} is off on this node (profile ${state.profile}).`, extras };
    case 'residual':
      return {
        detail: `This build has no residual process, which would answer ${feature} routes.`,
        extras,
      };
    case 'built':
      return { detail: `${method} ${path} is not implemented in this version.`, extras };
    case null:
      return null;
  }
}
