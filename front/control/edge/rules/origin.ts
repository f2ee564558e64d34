import { preflightHeaders } from '../cors.ts';
import { type Decision, refuse } from '../decision.ts';
import type { Ask } from './ask.ts';

/** The one script that a browser may keep as a service worker: the page's own. */
const WORKER = 'sw.get';
const NO_WORKER =
  'Only the page’s own /sw.js may be a service worker: one of an extension could answer for the node.';

/** 2. Browser origins, and what may stay in a browser and act for this one. */
export function ownOrigin({ request, headers, found, cors, foreign }: Ask): Decision | null {
  if (request.method === 'OPTIONS' && headers.preflight && headers.origin !== null) {
    if (cors === null) return refuse('cors', 'E_ORIGIN', null);
    return Object.freeze({
      kind: 'preflight',
      rule: 'cors',
      headers: preflightHeaders(cors, headers.privateNetwork),
    });
  }
  if (headers.workerScript && found.row?.id !== WORKER)
    return refuse('cors', 'E_ORIGIN', cors, { row: found.row, detail: NO_WORKER });
  return request.upgrade && foreign ? refuse('cors', 'E_ORIGIN', null) : null;
}
