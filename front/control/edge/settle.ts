import { refusesWhile } from '../../../shared/flight/armed.ts';
import { raisedByRequest } from '../../../shared/routes/classes.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { isOverridable } from './answer.ts';
import { isForced, isGuarded } from './armed.ts';
import type { EdgeState, Pass, Refusal } from './decision.ts';
import { whileDisarmed } from './rules/armed-guard.ts';
import type { BodyAsk } from './rules/body-ask.ts';
import { rootAlone, withScopes } from './rules/named.ts';
import { pilotInCommand } from './rules/pilot.ts';
import { validInput } from './rules/valid.ts';

/** The first that refuses decides. */
const RULES: readonly (readonly [name: string, rule: (ask: BodyAsk) => Refusal | null])[] = [
  ['root alone', rootAlone],
  ['scopes', withScopes],
  ['pilot in command', pilotInCommand],
  ['armed guard', whileDisarmed],
  ['schemas', validInput],
];

/**
 * Steps 10, 12 and 13, which need the body.
 * @param body the parsed JSON body; undefined when there was none, or when the row takes it raw
 */
export function settle(pass: Pass, body: unknown, state: EdgeState): Pass | Refusal {
  const ask = askOf(pass, body, state);
  for (const [, rule] of RULES) {
    const refusal = rule(ask);
    if (refusal !== null) return refusal;
  }
  return ask.forced ? Object.freeze({ ...pass, forced: true }) : pass;
}

function askOf(pass: Pass, body: unknown, state: EdgeState): BodyAsk {
  const { policy, row, principal } = pass;
  const asked = isOverridable(policy) && isForced(body, pass.query);
  const inner = row.scope === 'inner';
  // What a socket carries is guarded when it comes. Through the relay the drone judges, by its own vehicle.
  const armed = isOfVehicle(policy) ? state.armed : state.anyArmed;
  const question = { row: policy, params: pass.policyParams, body, profile: state.profile };
  const guarded = policy.armed !== '-' && refusesWhile(armed) && isGuarded(question);
  const { scopes } = principal;
  return {
    pass,
    body,
    state,
    raised: raisedByRequest(policy.names, pass.policyParams, body),
    armed,
    guarded,
    overrides: asked && !inner && (guarded || policy.armed === '-'),
    // An override that nobody needs is ignored for a caller that could not have it.
    forced: asked && (inner || scopes === null || scopes.includes('destructive')),
    inner,
  };
}

/** Whether all that it changes is the chosen vehicle: what may cut the link is everybody's on it. */
function isOfVehicle({ feature, blast }: Row): boolean {
  return feature === 'flight' && blast !== 'link';
}
