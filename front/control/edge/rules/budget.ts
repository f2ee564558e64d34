import { type Decision, refuse } from '../decision.ts';
import { isOnBox } from '../standing.ts';
import type { Ask } from './ask.ts';

/** 8. Budgets. A caller on this machine is exempt, so that a flood never locks out the operator's own shell. */
export function withinBudget({ request: { peer }, headers, found: { row }, cors }: Ask): Decision | null {
  if (isOnBox(peer, headers)) return null;
  const { limitedFor, lockedFor } = peer;
  if (lockedFor !== null)
    return refuse('rate', 'E_LOCKED', cors, { row, headers: { 'retry-after': String(lockedFor) } });
  if (limitedFor !== null)
    return refuse('rate', 'E_RATE_LIMITED', cors, { row, headers: { 'retry-after': String(limitedFor) } });
  return null;
}
