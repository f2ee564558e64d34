import { ANONYMOUS, type Principal } from '../../../../shared/auth/principal.ts';
import { answer } from '../answer.ts';
import { type Decision, refuse } from '../decision.ts';
import { standing } from '../standing.ts';
import { gateCaller } from '../unpaired.ts';
import type { Ask } from './ask.ts';
import { authenticate } from './credential.ts';

/** 7. Public rows; not with the key instead of what they ask for, whose guesses count as everywhere. */
export function publicRow(ask: Ask): Decision | null {
  const { request, headers, found, cors, state } = ask;
  const { row } = found;
  if (row?.access !== 'public' || (row.orKey && headers.showsKey)) return null;
  if (row.nearOnly && standing(request.peer, headers) === 'remote')
    return refuse('public', 'E_REMOTE', cors, { row });
  const { clientId } = headers;
  const principal = knownCaller(ask);
  return answer({ rule: 'public', row, found, principal, clientId, cors, counted: false }, state);
}

/**
 * The caller of a public row, anonymous if it has no credential: some public rows answer known callers differently. Tokens are
 * not checked, so that their store is not read for requests that need none.
 */
function knownCaller(ask: Ask): Principal {
  const { request, headers, state } = ask;
  const known = authenticate({ ...ask, headers: { ...headers, token: null }, readTicket: null });
  if (known !== null) return known;
  const where = standing(request.peer, headers);
  if (state.pairing.paired || where === 'remote') return ANONYMOUS;
  return gateCaller(where);
}
