import { type Refusal, refuse } from '../decision.ts';
import type { BodyAsk } from './body-ask.ts';

/** What could cost a vehicle that is armed, or may be (docs/contract/edge.md#armed-guard). */
export function whileDisarmed({ pass, armed, guarded, forced, inner }: BodyAsk): Refusal | null {
  if (inner || !guarded || forced) return null;
  const { policy, row, principal, cors } = pass;
  const extras = {
    action: policy.summary,
    armed,
    override: { body: { force: true }, query: 'force=1' },
  };
  return refuse('armed', 'E_ARMED', cors, { row, principal, extras });
}
