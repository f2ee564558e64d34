import { setupUrl } from '../../../../shared/auth/address.ts';
import { type Decision, type EdgeState, type Redirect, type RequestHead, refuse } from '../decision.ts';
import type { EdgeHeaders } from '../headers.ts';
import { standing } from '../standing.ts';
import { gateCaller, isOwnHost, unpairedGate } from '../unpaired.ts';
import type { Ask } from './ask.ts';

const UNPAIRED_DRONE =
  'This drone has no owner yet, so it answers nothing over the radio. Pair it: run "svc pair" on it, or open its page at its hotspot or USB address.';

/** 6. The unpaired gate. Whom it lets in is the caller; public rows and budgets come before that counts. */
export function whileUnpaired(ask: Ask): Decision | null {
  const { request, headers, foreign, found, state, cors } = ask;
  const { row } = found;
  if (state.pairing.paired) return null;
  // Whatever it asks, the ground station has to hear what is missing.
  if (request.peer.kind === 'relay')
    return refuse('unpaired', 'E_UNPAIRED', cors, { row, detail: UNPAIRED_DRONE });
  if (!isOwnHost(headers.host, state.hosts))
    return toSetup(request, headers, state) ?? refuse('unpaired', 'E_ORIGIN', cors, { row });
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  if (changes && foreign) return refuse('unpaired', 'E_ORIGIN', cors, { row });
  if (row?.access === 'public') return null;
  if (request.peer.kind === 'unix') return null; // its file mode is the credential, paired or not
  const where = standing(request.peer, headers);
  switch (unpairedGate(where)) {
    case 'pass':
      // There is no key yet; only this machine itself may do what a key could.
      if (row?.access === 'keyonly' && where !== 'loopback')
        return refuse('unpaired', 'E_UNPAIRED', cors, { row });
      ask.letIn = gateCaller(where);
      return null;
    case 'session-needed': {
      const session =
        headers.session === null || row?.access === 'keyonly'
          ? null
          : state.credentials.session(headers.session);
      if (session === null)
        return refuse('unpaired', 'E_UNPAIRED', cors, { row, failedCredential: headers.session !== null });
      ask.letIn = session;
      return null;
    }
    case 'remote':
      return refuse('unpaired', 'E_REMOTE', cors, { row });
  }
}

/**
 * Phones look for the internet with requests to hosts that they know, and open the page that they are sent to instead. On the
 * node's hotspot its own DNS brings them here (docs/first-boot.md). The answer tells nothing and changes nothing, so a rebound
 * name gets nothing by it.
 */
function toSetup(
  { method, peer, upgrade }: RequestHead,
  headers: EdgeHeaders,
  { port }: EdgeState,
): Redirect | null {
  const where = standing(peer, headers);
  // By HTTPS nobody is sent into the clear.
  if (upgrade || peer.secure || (method !== 'GET' && method !== 'HEAD')) return null;
  if (peer.kind !== 'tcp' || (where !== 'hotspot' && where !== 'usb')) return null;
  return Object.freeze({ kind: 'redirect', rule: 'unpaired', status: 302, location: setupUrl(where, port) });
}
