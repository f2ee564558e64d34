import type { Principal } from '../../../shared/auth/principal.ts';
import type { Matcher } from '../../../shared/routes/match.ts';
import { answer } from './answer.ts';
import { type EdgeState, type Pass, type Refusal, refuse } from './decision.ts';
import { NOTHING } from './find-row.ts';
import { readTicketPath } from './read-ticket.ts';

/**
 * Whether a caller may have a read ticket: as if it sent the GET itself (docs/contract/credentials.md#read-tickets).
 * @param path of what the ticket is for; of all files of an extension's page: `/api/plugins/{id}/gcs`
 */
export function mayHaveReadTicket(path: string, principal: Principal, state: EdgeState): Pass | Refusal {
  if (principal.kind === 'relay' || isBehindRelay(path, state.matcher))
    return refuse('relay', 'E_RELAY_FORBIDDEN', null, {
      detail: 'No read ticket is given through a ground station. Ask the drone itself.',
    });
  // No row is the folder of an extension's page itself.
  for (const target of [path, `${path}/-`]) {
    const match = state.matcher.match(target);
    const row = match.kind === 'found' ? match.template.rows.get('GET') : undefined;
    if (match.kind !== 'found' || row === undefined || row.readTicket === null) continue;
    if (readTicketPath(row, match.path, match.params) !== path) continue;
    const found = { ...NOTHING, row, policy: row, params: match.params, path: match.path };
    const asked = {
      rule: 'credential',
      row,
      found,
      principal,
      clientId: null,
      cors: null,
      counted: false,
    } as const;
    return answer(asked, state);
  }
  return refuse('row', 'E_NOT_FOUND', null, { detail: `There is no read ticket for GET ${path}.` });
}

function isBehindRelay(path: string, matcher: Matcher): boolean {
  const match = matcher.match(path);
  return match.kind === 'found' && [...match.template.rows.values()].some(({ scope }) => scope === 'inner');
}
