import { PAIRING_KEY, type Principal } from '../../../../shared/auth/principal.ts';
import { hostName } from '../../../../shared/http/edge/head.ts';
import { holdsKey } from '../../../../shared/routes/may.ts';
import { answer } from '../answer.ts';
import { matchesHash } from '../credentials.ts';
import { type Decision, refuse } from '../decision.ts';
import { readTicketPath } from '../read-ticket.ts';
import { statedCaller } from '../relay.ts';
import { isOnBox, localCaller } from '../standing.ts';
import type { Ask } from './ask.ts';

/** 9. The credential; then the row, what it needs (10), and whether this node serves it (11). */
export function withCredential(ask: Ask): Decision {
  const { request, headers, foreign, found, cors, state } = ask;
  const { row } = found;
  const counted = !isOnBox(request.peer, headers);
  const principal = ask.letIn ?? authenticate(ask);
  if (principal === null) {
    // A page of a foreign origin in this machine's browser: refused for its origin, since E_UNAUTHENTICATED would ask for a
    // key.
    if (row?.onBox === true && foreign && isOnBox(request.peer, headers))
      return refuse('cors', 'E_ORIGIN', cors, { row });
    return refuse('credential', 'E_UNAUTHENTICATED', cors, {
      row,
      failedCredential: counted && headers.offered,
      ...(found.policy?.bearer === true ? { headers: { 'www-authenticate': 'Bearer' } } : {}), // RFC 6750 3
    });
  }
  if (row === null) {
    if (found.upgrade && request.method === 'GET')
      return refuse('row', 'E_UPGRADE', cors, { principal, headers: { upgrade: 'websocket' } });
    if (found.allow === '' && !found.upgrade) return refuse('row', 'E_NOT_FOUND', cors, { principal });
    return refuse('row', 'E_METHOD', cors, { principal, headers: { allow: found.allow } });
  }
  const { clientId } = headers;
  return answer({ rule: 'credential', row, found, principal, clientId, cors, counted }, state);
}

/** The strongest valid credential; invalid ones beside it are ignored. */
export function authenticate({ request, headers, foreign, found, readTicket, state }: Ask): Principal | null {
  const { row, policy, params, path } = found;
  const { credentials, pairing } = state;
  if (request.peer.kind === 'unix') return localCaller(headers);
  if (request.peer.kind === 'fleet')
    return request.peer.fleet?.kind === 'valid' ? request.peer.fleet.principal : null;
  const showsKey = row?.orKey === true && headers.showsKey;
  const keyOnly = policy?.access === 'keyonly' || row?.access === 'keyonly' || showsKey;
  if (request.peer.kind === 'relay') {
    // The ground station has checked the credential, and forwards none.
    const caller = statedCaller(request.peer.ground ?? '', headers.relayCaller);
    return caller === null || (keyOnly && !holdsKey(caller)) ? null : caller;
  }
  for (const key of [headers.key, headers.bearer])
    if (key !== null && pairing.keyHash !== null && matchesHash(key, pairing.keyHash)) return PAIRING_KEY;
  if (
    row?.onBox === true &&
    !foreign &&
    isOnBox(request.peer, headers) &&
    isLoopbackHost(headers.host) &&
    request.peer.trusted()
  ) {
    return { kind: 'onbox', id: 'onbox', scopes: null };
  }
  // On a row for the key a session is somebody who may not (403), not nobody (401).
  if (headers.session !== null && !showsKey) {
    const session = credentials.session(headers.session);
    if (session !== null) return session;
  }
  if (headers.ticket !== null && row?.access === 'ws' && row.ticket !== null) {
    const ticket = credentials.ticket(headers.ticket, ticketScope(row.ticket, params));
    if (ticket !== null) return ticket;
  }
  // A wrong one does not count as a failed credential (`offered`): any web page can have a browser ask for such an address,
  // and could lock its user out with it.
  if (readTicket !== null && row !== null && row.readTicket !== null) {
    const reader = credentials.readTicket(readTicket, readTicketPath(row, path, params));
    if (reader !== null) return reader;
  }
  for (const token of [headers.token, headers.bearer]) {
    const holder = token === null ? null : credentials.token(token);
    if (holder !== null) return holder;
  }
  return null;
}

function isLoopbackHost(host: string | null): boolean {
  const name = host === null ? null : hostName(host);
  return name !== null && (name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name));
}

/** `plugins.http:{id}` with the id of this request. */
export function ticketScope(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_, name: string) => params[name] ?? '');
}
