import { ERRORS } from '../../../../shared/errors.ts';
import { fleetRule } from '../../../../shared/routes/fleet-rule.ts';
import { type Decision, NO_EXTRAS, refuse } from '../decision.ts';
import type { Ask } from './ask.ts';

/**
 * 5. The fleet's own rule. Its credential is judged before public rows too: what comes through the broker is nobody's until it is
 * proved. @returns null where the call may go on
 */
export function byFleet({
  request: { peer },
  found: { row, policy },
  state: { pairing },
}: Ask): Decision | null {
  if (peer.kind !== 'fleet') return null;
  const { lockedFor, fleet } = peer;
  const wait = lockedFor === null ? null : { 'retry-after': String(lockedFor) };
  if (wait !== null) return refuse('rate', 'E_LOCKED', null, { row, headers: wait });
  if (fleet?.kind !== 'valid') {
    const {
      code = 'E_UNAUTHENTICATED',
      detail = ERRORS.E_UNAUTHENTICATED[1],
      extras = NO_EXTRAS,
    } = fleet ?? {};
    return refuse('credential', code, null, {
      row,
      detail,
      extras,
      failedCredential: code === 'E_UNAUTHENTICATED',
    });
  }
  const { principal, confirmed } = fleet;
  // Its rights end with the pairing, under which the node was enrolled.
  if (!pairing.paired) return refuse('unpaired', 'E_UNPAIRED', null, { row, principal });
  const rule = row === null ? 'ok' : fleetRule(policy ?? row);
  if (rule === 'forbid' || (row !== null && fleetRule(row) === 'forbid'))
    return refuse('fleet', 'E_FLEET_FORBIDDEN', null, { row, principal });
  return rule === 'confirm' && confirmed !== 'confirm'
    ? refuse('fleet', 'E_CONFIRM', null, { row, principal })
    : null;
}
