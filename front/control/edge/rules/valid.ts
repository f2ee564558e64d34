import { ERRORS } from '../../../../shared/errors.ts';
import { faultOf } from '../../../../shared/schemas/fault.ts';
import type { Violation } from '../../../../shared/schemas/validator.ts';
import { type Refusal, refuse } from '../decision.ts';
import type { BodyAsk } from './body-ask.ts';

/** Body and query fit the row's schemas. */
export function validInput({ pass, body, state, inner }: BodyAsk): Refusal | null {
  const { row, principal, cors, query } = pass;
  const violations = inner ? null : state.validate(row, body, query);
  if (violations === null) return null;
  return refuse('body', 'E_INVALID_VALUE', cors, {
    row,
    principal,
    detail: sentence(violations, row.bodyKind === 'json' ? 'The body' : 'The query'),
    extras: { errors: violations },
  });
}

function sentence(violations: readonly Violation[], subject: string): string {
  const first = violations[0];
  if (first === undefined) return ERRORS.E_INVALID_VALUE[1];
  return `${faultOf(first, subject)}.`;
}
