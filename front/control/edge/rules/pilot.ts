import { endsFlight } from '../../../../shared/flight/pilot.ts';
import { memberOf } from '../../../../shared/member.ts';
import type { Row } from '../../../../shared/routes/row.ts';
import { type Refusal, refuse } from '../decision.ts';
import type { BodyAsk } from './body-ask.ts';

/** Who flies is pilot in command, while there is one. */
export function pilotInCommand({ pass, body, state, inner }: BodyAsk): Refusal | null {
  const { policy, row, principal, cors, clientId } = pass;
  const pilot =
    isFlown(policy, body) && (policy.method !== 'WS' || inner) ? state.pilot?.otherThan(clientId) : null;
  if (typeof pilot !== 'string') return null;
  return refuse('pilot', 'E_NOT_PIC', cors, {
    row,
    principal,
    detail: `${pilot} is pilot in command. Claim it first, with take_over if that is agreed.`,
    extras: { claimed_by: pilot },
  });
}

/** Whether it flies or changes the vehicle (a WebSocket of our own judges each frame), which is the pilot's business; what ends a flight is everybody's. */
function isFlown({ feature, blast, id }: Row, body: unknown): boolean {
  if (feature !== 'flight' || blast !== 'aircraft') return false;
  const command = id === 'command.post' ? memberOf(body, 'cmd') : null;
  return typeof command !== 'string' || !endsFlight(command);
}
