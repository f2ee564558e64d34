import { ERRORS } from '../../../shared/errors.ts';
import { refusesWhile } from '../../../shared/flight/armed.ts';
import { endsFlight } from '../../../shared/flight/pilot.ts';
import { memberOf } from '../../../shared/member.ts';
import { raisedByRequest } from '../../../shared/routes/classes.ts';
import { holdsKey } from '../../../shared/routes/may.ts';
import { neededScopes } from '../../../shared/routes/needed-scopes.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import type { Violation } from '../../../shared/schemas/validator.ts';
import { isOverridable } from './answer.ts';
import { isForced, isGuarded } from './armed.ts';
import { type EdgeState, type Pass, type Refusal, refuse } from './decision.ts';
import { lacksScope } from './lacks-scope.ts';

/**
 * Steps 10, 12 and 13, which need the body.
 * @param body the parsed JSON body; undefined when there was none, or when the row takes it raw
 */
export function settle(pass: Pass, body: unknown, state: EdgeState): Pass | Refusal {
  const { policy, row, principal, cors } = pass;
  const asked = isOverridable(policy) && isForced(body, pass.query);
  const raised = raisedByRequest(policy.names, pass.policyParams, body);
  const root = raised.find((each) => each.class === 'root');
  if (root !== undefined)
    return refuse('scope', 'E_ROOT_ONLY', cors, {
      row,
      principal,
      detail: `${root.name} can only be changed by root on the node, not over the API: it ${root.reason}.`,
    });
  const question = { row: policy, params: pass.policyParams, body, profile: state.profile };
  const inner = row.scope === 'inner';
  // What a socket carries is guarded when it comes. Through the relay the drone judges, by its own vehicle.
  const armed = isOfVehicle(policy) ? state.armed : state.anyArmed;
  const guarded = policy.armed !== '-' && refusesWhile(armed) && isGuarded(question);
  const overrides = asked && !inner && (guarded || policy.armed === '-');
  const { scopes } = principal;
  const needed = neededScopes(policy, raised, overrides);
  if (raised.some((each) => each.class === 'keyonly') && !holdsKey(principal))
    return lacksScope(pass, raised, overrides);
  if (scopes !== null && needed?.every((scope) => scopes.includes(scope)) !== true)
    return lacksScope(pass, raised, overrides);
  // An override that nobody needs is ignored for a caller that could not have it.
  const forced = asked && (inner || scopes === null || scopes.includes('destructive'));
  const pilot =
    isFlown(policy, body) && (policy.method !== 'WS' || inner) ? state.pilot?.otherThan(pass.clientId) : null;
  if (typeof pilot === 'string')
    return refuse('pilot', 'E_NOT_PIC', cors, {
      row,
      principal,
      detail: `${pilot} is pilot in command. Claim it first, with take_over if that is agreed.`,
      extras: { claimed_by: pilot },
    });
  // The drone guards and checks what it is asked through the relay: it knows its own vehicle, and its own version of the row.
  if (inner) return forced ? Object.freeze({ ...pass, forced }) : pass;
  if (guarded && !forced) {
    const extras = {
      action: policy.summary,
      armed,
      override: { body: { force: true }, query: 'force=1' },
    };
    return refuse('armed', 'E_ARMED', cors, { row, principal, extras });
  }
  const violations = state.validate(row, body, pass.query);
  if (violations !== null) {
    return refuse('body', 'E_INVALID_VALUE', cors, {
      row,
      principal,
      detail: sentence(violations, row.bodyKind === 'json' ? 'The body' : 'The query'),
      extras: { errors: violations },
    });
  }
  return forced ? Object.freeze({ ...pass, forced }) : pass;
}

/** Whether all that it changes is the chosen vehicle: what may cut the link is everybody's on it. */
function isOfVehicle({ feature, blast }: Row): boolean {
  return feature === 'flight' && blast !== 'link';
}

/** Whether it flies or changes the vehicle (a WebSocket of our own judges each frame), which is the pilot's business; what ends a flight is everybody's. */
function isFlown({ feature, blast, id }: Row, body: unknown): boolean {
  if (feature !== 'flight' || blast !== 'aircraft') return false;
  const command = id === 'command.post' ? memberOf(body, 'cmd') : null;
  return typeof command !== 'string' || !endsFlight(command);
}

function sentence(violations: readonly Violation[], subject: string): string {
  const first = violations[0];
  if (first === undefined) return ERRORS.E_INVALID_VALUE[1];
  return `${faultOf(first, subject)}.`;
}
