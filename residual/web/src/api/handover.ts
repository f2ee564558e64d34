import { call, Refused } from './client.ts';
import { credential, isKept } from './credential.ts';
import { holdSession } from './sign-in.ts';

/**
 * From http to https and signed in there: by a ticket that the node takes once, within 30 s, never by the key or the session itself. It
 * travels in the fragment, which no browser sends to a server, and is out of the address before anything else of the page looks at it.
 */

/** A second tilde: of a person who stays signed in on this browser. */
const ARRIVED = /^#\/~(~?)([A-Za-z0-9_-]{1,256})(\/.*)?$/;

let ticket: string | null = null;
let stays = false;

/** Takes the ticket that this page was opened with, if any, out of its address. */
export function takeTicket(): void {
  const [, kept, found, rest = ''] = ARRIVED.exec(location.hash) ?? [];
  if (found === undefined) return;
  ticket = found;
  stays = kept !== '';
  history.replaceState(null, '', `${location.pathname}${location.search}#${rest}`);
}

/** Signs in with that ticket. @throws Refused with status 0 while the node does not answer */
export async function arrive(): Promise<void> {
  if (ticket === null) return;
  try {
    holdSession(await call('dashboard.handover.post', { body: { ticket }, as: null, here: true }), stays);
  } catch (error) {
    // It was too late, or used before: the page asks for the PIN.
    if (!(error instanceof Refused) || error.status === 0) throw error;
  }
  ticket = null;
}

/** Goes to this page by HTTPS. A token and the key stay behind; the session moves along. @throws Refused */
export async function openSecurely(port: number): Promise<void> {
  const held = credential.value;
  const as = held?.kind === 'key' ? (held.session ?? held) : held;
  const url = new URL(location.href);
  url.protocol = 'https:';
  url.port = String(port);
  if (as !== null && as.kind !== 'token') {
    const issued = await call('ws.ticket.post', { body: { scope: 'handover' }, as, here: true });
    url.hash = `#/~${isKept() ? '~' : ''}${issued.ticket}${location.hash.slice(1)}`;
  }
  location.assign(url);
}
