import type { Principal } from '../../../shared/auth/principal.ts';
import { isScope, type Scope } from '../../../shared/auth/scopes.ts';
import { howToAllow } from '../../../shared/fleet/local-scopes.ts';
import type { Raised } from '../../../shared/routes/classes.ts';
import { neededScopes } from '../../../shared/routes/needed-scopes.ts';
import { type Pass, type Refusal, refuse } from './decision.ts';

/** Says all that is missing, and why; for what is closed to tokens, who may. */
export function lacksScope(
  { policy, row, principal, cors }: Pick<Pass, 'policy' | 'row' | 'principal' | 'cors'>,
  raised: readonly Raised[],
  overrides: boolean,
): Refusal {
  const granted = principal.scopes ?? [];
  const needed = neededScopes(policy, raised, overrides);
  const reasons = raised
    .filter((each) => !isScope(each.class) || !granted.includes(each.class))
    .map(({ name, reason }) => `${name} ${reason}.`)
    .filter((sentence, index, all) => all.indexOf(sentence) === index); // one name may need two scopes
  if (needed === null) {
    const detail = [...reasons, 'No token may do this: use the pairing key.'].join(' ');
    return refuse('scope', 'E_SCOPE', cors, {
      row,
      principal,
      detail,
      extras: { required: 'keyonly', missing: ['keyonly'], granted },
    });
  }
  const missing = needed.filter((scope) => !granted.includes(scope));
  const extras = { required: missing.at(-1), missing, granted };
  const { confirmable = [] } = principal;
  if (missing.every((scope) => confirmable.includes(scope)))
    return refuse('fleet', 'E_CONFIRM', cors, { row, principal, extras });
  if (overrides) reasons.push('The armed guard would be overridden.');
  const detail = [...reasons, `The token lacks ${missing.join(' and ')}.`].join(' ');
  return refuse('scope', 'E_SCOPE', cors, {
    row,
    principal,
    detail,
    extras,
    ...cappedBy(principal.cap, missing, reasons, extras),
  });
}

/** Of a caller of the fleet whose credential has the scopes, and whom this node does not let have them: what a person can do. */
function cappedBy(
  cap: Principal['cap'],
  missing: readonly Scope[],
  reasons: readonly string[],
  extras: Refusal['extras'],
): Pick<Refusal, 'detail' | 'extras'> | null {
  const capped = missing.filter((scope) => cap?.held.includes(scope) === true && !cap.local.includes(scope));
  if (cap === undefined || capped.length === 0) return null;
  const why = `This node does not let its fleet do that. ${howToAllow(capped, cap.local)}`;
  return {
    detail: [...reasons, why].join(' '),
    extras: { ...extras, capped, fleet_scopes: cap.local },
  };
}
