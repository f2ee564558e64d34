import { memberOf } from '../../shared/member.ts';
import { type Carry, NoAnswer } from './fleet-caller.ts';
import { askHub, HubError, type HubPlace } from './hub.ts';
import type { HubSession } from './hub-session.ts';

/** A person's calls go as those of the hub's page: signed here, carried by the hub, which can make none itself. */
export function carriedBy(hub: HubPlace, session: HubSession): Carry {
  return async (node, call, ms, signal) => {
    // The hub's own bounds of how long it waits.
    const timeout_ms = Math.min(130_000, Math.max(1000, Math.floor(ms)));
    try {
      const asked = { body: { call, timeout_ms }, timeoutMs: timeout_ms + 1000, signal };
      const reply = memberOf(await askHub(hub, `/v1/nodes/${node}/calls`, asked), 'reply');
      if (typeof reply === 'string') return reply;
      throw new NoAnswer('silent', true);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      throw noAnswer(error, signal?.aborted === true, session);
    }
  };
}

function noAnswer({ status, body, sent }: HubError, isCancelled: boolean, session: HubSession): NoAnswer {
  if (status === null) return new NoAnswer(isCancelled ? 'cancelled' : 'broker', sent);
  if (status === 401 || status === 403) session.doubt();
  const maybe = memberOf(body, 'sent') === true;
  switch (memberOf(body, 'code')) {
    case 'E_TIMEOUT':
      return new NoAnswer('silent', maybe);
    case 'E_UPSTREAM_DOWN':
      return new NoAnswer('offline', maybe);
    case 'E_RATE_LIMITED':
    case 'E_BUSY':
      return new NoAnswer('too_many', maybe);
    default:
      return new NoAnswer('broker', maybe || status >= 500);
  }
}
