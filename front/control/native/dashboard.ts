import type { IncomingHttpHeaders } from 'node:http';
import type { Principal, PrincipalKind } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import { deviceName } from '../../../shared/http/device-name.ts';
import type { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { pairingRows } from '../../../shared/routes/pairing.ts';
import { HANDOVER } from '../../../shared/schemas/dashboard.ts';
import type { Pass, Refusal } from '../edge/decision.ts';
import type { PinStore } from '../stores/pin.ts';
import { type SessionStore, sessionId } from '../stores/sessions.ts';
import type { TicketStore } from '../stores/tickets.ts';

type PairingHandlers = HandlersOf<typeof pairingRows, 'front'>;

/** Who may move to another address of this node. A program's token never becomes a person's session. */
const MOVES: ReadonlySet<PrincipalKind> = new Set<PrincipalKind>(['session', 'key']);

/** How far the caller of a public row is trusted. */
export interface Caller {
  /** On-box, control.sock, pairing key or a valid session. */
  readonly trusted: boolean;
  /** The node is unpaired, and its gate would let this peer in. */
  readonly gate: boolean;
}

interface DashboardDeps {
  /** Its `onChange` ends every session and ticket. */
  readonly pin: PinStore;
  readonly sessions: SessionStore;
  readonly tickets: TicketStore;
  readonly readTickets: TicketStore;
  /** Whether a caller may have a read ticket for a path; see `mayHaveReadTicket`. */
  readonly mayRead: (path: string, principal: Principal) => Pass | Refusal;
  readonly caller: (call: { readonly principal: Principal }) => Caller;
  /** Whether a request shows the pairing key of this moment. */
  readonly isKey: (headers: IncomingHttpHeaders) => boolean;
  /** Where wrong tickets count, as other credentials do. */
  readonly budgets: Pick<PeerBudgets, 'fail' | 'lockedFor'>;
  /** Wall clock, ms. */
  readonly now: () => number;
}

export function dashboardHandlers(
  deps: DashboardDeps,
): Pick<PairingHandlers, Extract<keyof PairingHandlers, `dashboard.${string}` | 'ws.ticket.post'>> {
  const { pin, sessions, tickets, readTickets, caller, budgets } = deps;
  return {
    'dashboard.pin.status.get': ({ peer }) => {
      const { set, locked, retry_after_s: retry } = pin.status(peer);
      const lockedUntil = retry === null ? null : Math.round(deps.now() / 1000) + retry;
      return { pin_set: set, locked, locked_until: lockedUntil, retry_after_s: retry };
    },

    'dashboard.pin.verify.post': async ({ body, peer, headers, principal }) => {
      const open = async () => sessions.open(deviceName(headers['user-agent']));
      if (body.pin !== undefined) return pin.verify(body.pin, peer, open);
      if (headers['x-svc-key'] === undefined)
        throw new ApiError('E_INVALID_VALUE', 'Send the PIN, or the pairing key as X-SVC-Key.');
      // Asked again, since the body may have come long after the head: a key that was replaced opens nothing under the next one.
      if (principal.kind !== 'key' || !deps.isKey(headers)) throw new ApiError('E_UNAUTHENTICATED');
      return open();
    },

    'dashboard.handover.post': async ({ body: { ticket }, peer, headers }) => {
      const wait = budgets.lockedFor(peer);
      if (wait !== null) throw new ApiError('E_LOCKED', undefined, {}, { 'retry-after': String(wait) });
      const from = tickets.take(ticket, HANDOVER);
      const opened = from?.kind === 'session' ? await sessions.move(from.id) : null;
      if (opened !== null) return opened;
      if (from?.kind === 'key') return sessions.open(deviceName(headers['user-agent']));
      budgets.fail(peer);
      throw new ApiError('E_UNAUTHENTICATED', 'This ticket is not valid: it works once, for 30 s. Sign in.');
    },

    'dashboard.pin.set.post': async (call) => {
      const { trusted, gate } = caller(call);
      const { pin: next, current_pin: current } = call.body;
      // The caller knows the new PIN: opens a new session instead of the one that the change ended.
      const session = await pin.set(next, { current, trusted, gate, peer: call.peer }, async () =>
        sessions.open(deviceName(call.headers['user-agent'])),
      );
      return { pin_set: true, ...session };
    },

    'dashboard.pin.clear.post': async () => {
      await pin.clear();
      return { pin_set: false };
    },

    'ws.ticket.post': ({ body: { scope, path, ttl_seconds: ttlS }, principal }) => {
      if (scope === HANDOVER && !MOVES.has(principal.kind))
        throw new ApiError(
          'E_SCOPE',
          'Only a dashboard session or the pairing key can move to another address.',
          {
            required: 'keyonly',
            missing: ['keyonly'],
            granted: principal.scopes ?? [],
          },
        );
      if (path === undefined) return tickets.issue(scope, principal, ttlS);
      const asked = deps.mayRead(path, principal);
      if (asked.kind === 'refuse') throw new ApiError(asked.code, asked.detail, asked.extras);
      return { ...readTickets.issue(path, principal, ttlS), scope, path };
    },

    'dashboard.sessions.get': ({ principal }) => ({
      sessions: sessions.list().map((open) => ({ ...open, current: principal.id === sessionId(open.id) })),
    }),

    'dashboard.sessions.id.delete': async ({ params }) => {
      if (!(await sessions.end(params.id))) throw new ApiError('E_NOT_FOUND', `No session ${params.id}.`);
      return { id: params.id, ended: true };
    },
  };
}
