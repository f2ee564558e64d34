import { hostProblem, targetProblem } from '../../../../shared/http/edge/head.ts';
import type { Decision } from '../decision.ts';
import { type Refusal, refuse } from '../decision.ts';
import type { BadTarget } from '../find-row.ts';
import type { Ask } from './ask.ts';

/** 1. One reading of the target, one Host. */
export function oneTarget({ match, headers }: Ask): Decision | null {
  if (match.kind === 'bad') return ambiguous(match);
  const detail = hostProblem(headers.hosts, headers.host);
  return detail === null ? null : refuse('target', 'E_BAD_REQUEST', null, { detail });
}

/** 4. So for the target within a request through the relay proxy. */
export function oneInnerTarget({ inner }: Ask): Decision | null {
  return inner === null ? null : ambiguous(inner);
}

function ambiguous({ why }: BadTarget): Refusal {
  return refuse('target', 'E_BAD_PATH', null, { detail: targetProblem(why) });
}
