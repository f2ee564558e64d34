import type { Decision } from '../decision.ts';
import { type Refusal, refuse } from '../decision.ts';
import type { BadTarget } from '../find-row.ts';
import { hostName } from '../unpaired.ts';
import type { Ask } from './ask.ts';

/** 1. One reading of the target, one Host. */
export function oneTarget({ match, headers }: Ask): Decision | null {
  if (match.kind === 'bad') return ambiguous(match);
  if (headers.hosts !== 1 || headers.host === null || hostName(headers.host) === null) {
    return refuse('target', 'E_BAD_REQUEST', null, {
      detail: 'Send exactly one Host header with a host and an optional port.',
    });
  }
  return null;
}

/** 4. So for the target within a request through the relay proxy. */
export function oneInnerTarget({ inner }: Ask): Decision | null {
  return inner === null ? null : ambiguous(inner);
}

function ambiguous({ why }: BadTarget): Refusal {
  return refuse('target', 'E_BAD_PATH', null, { detail: `Ambiguous request target: ${why}.` });
}
