import { preflightHeaders } from '../cors.ts';
import { type Decision, refuse } from '../decision.ts';
import type { Ask } from './ask.ts';

/** 2. Browser origins. */
export function ownOrigin({ request, headers, cors, foreign }: Ask): Decision | null {
  if (request.method === 'OPTIONS' && headers.preflight && headers.origin !== null) {
    if (cors === null) return refuse('cors', 'E_ORIGIN', null);
    return Object.freeze({
      kind: 'preflight',
      rule: 'cors',
      headers: preflightHeaders(cors, headers.privateNetwork),
    });
  }
  return request.upgrade && foreign ? refuse('cors', 'E_ORIGIN', null) : null;
}
