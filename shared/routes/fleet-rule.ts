import type { Row } from './row.ts';

/** What a call of the fleet may do, by row (docs/contract/fleet.md). */
type FleetRule = 'ok' | 'confirm' | 'forbid';

/** These only take authority away, so they are carried although their relay rule forbids it. */
const TAKING: ReadonlyMap<string, FleetRule> = new Map<string, FleetRule>([
  ['mcp.revoke.post', 'ok'],
  ['wfb.pair.delete', 'confirm'],
  ['fleet.enrollment.delete', 'confirm'],
]);

/**
 * `confirm`: only with an operator's own `confirm`, whatever its scope. Sockets, the rows of the pilot in command, who must be
 * near, and of tickets and sign-in, which are for browsers, are not for the fleet.
 */
export function fleetRule(
  row: Pick<Row, 'id' | 'method' | 'access' | 'scope' | 'relay' | 'feature'>,
): FleetRule {
  const { id, method, access, scope, relay, feature } = row;
  const exception = TAKING.get(id);
  if (exception !== undefined) return exception;
  const near = id.startsWith('ground-station.pic.') || id.includes('ticket') || feature === 'fleet';
  const signIn = access === 'public' && method !== 'GET';
  const key = access === 'keyonly' || scope === 'secret_read' || scope === 'inner' || method === 'WS';
  return relay === 'forbid' || near || signIn || key ? 'forbid' : 'ok';
}
