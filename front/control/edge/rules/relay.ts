import { type Decision, refuse } from '../decision.ts';
import { isRelayed } from '../standing.ts';
import type { Ask } from './ask.ts';

/** 5. The relay rule, before anything that could pass. */
export function throughRelay({ request, headers, found, cors }: Ask): Decision | null {
  const { row } = found;
  if (isRelayed(request.peer, headers) && (found.policy?.relay === 'forbid' || row?.relay === 'forbid')) {
    return refuse('relay', 'E_RELAY_FORBIDDEN', cors, { row });
  }
  return null;
}
