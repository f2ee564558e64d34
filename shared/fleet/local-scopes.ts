import { SCOPES, type Scope } from '../auth/scopes.ts';

/** The config key of a node that says which scopes calls of the fleet may use there, whatever a credential holds. */
const LOCAL_SCOPES_KEY = 'fleet.scopes';

/** How a person mends that a node does not let its fleet have these scopes. @param present what the key has now */
export function howToAllow(missing: readonly Scope[], present: readonly string[]): string {
  const wanted = SCOPES.filter((scope) => present.includes(scope) || missing.includes(scope));
  return `Its config key ${LOCAL_SCOPES_KEY} lacks ${missing.join(' and ')}. On the node: svc config set ${LOCAL_SCOPES_KEY} ${wanted.join(',')} && svc services restart svc-control`;
}
