import { randomBytes } from 'node:crypto';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { HANDOVER } from '../../../shared/schemas/dashboard.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { secretHash } from '../edge/credentials.ts';

export const TICKET_LIFE_S = { default: 30, min: 1, max: 120 } as const;
export const READ_TICKET_LIFE_S = { default: 600, min: 1, max: 600 } as const;
const MAX_TICKETS = 256;
const TICKET_OF = 'ticket of ';

interface Ticket {
  readonly scope: string;
  /** Monotonic, ms. */
  readonly deadline: number;
  readonly issuer: Principal;
  readonly principal: Principal;
}

interface TicketOptions {
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  /** Whether a WebSocket row accepts the requested scope; see `ticketScopes`. */
  readonly isScope: (scope: string) => boolean;
  /** Seconds. */
  readonly life: { readonly default: number; readonly min: number; readonly max: number };
  /** Whether the credential that asked for the ticket is still valid; if absent, it always is. */
  readonly holds?: (issuer: Principal) => boolean;
}

interface IssuedTicket {
  /** The secret; the node keeps only its hash. */
  readonly ticket: string;
  readonly scope: string;
  readonly ttl_seconds: number;
  /** Seconds since 1970. */
  readonly expires_at: number;
}

/**
 * Tickets, in memory, at most 256: a browser cannot set a header on a handshake, an image or a link, so it asks for a ticket
 * with its key first. Each is for one scope and for the principal that asked (docs/contract/credentials.md). A WebSocket uses its ticket
 * up; the scope of a read ticket is a path.
 */
export class TicketStore {
  readonly #options: TicketOptions;
  /** By hash of the ticket, oldest first. The time of a look-up by hash does not reveal how much of a guess was right. */
  readonly #tickets = new Map<string, Ticket>();

  constructor(options: TicketOptions) {
    this.#options = options;
  }

  /**
   * The 257th ends the oldest. @throws ApiError E_NOT_FOUND for an unknown scope, E_INVALID_VALUE for a `ttlS` that `life` does
   * not allow
   */
  issue(scope: string, issuer: Principal, ttlS: number = this.#options.life.default): IssuedTicket {
    const { now, monotonic, isScope, life } = this.#options;
    if (!isScope(scope))
      throw new ApiError('E_NOT_FOUND', `This node has no WebSocket with the scope ${scope}.`);
    if (!(ttlS >= life.min && ttlS <= life.max))
      throw invalid('/ttl_seconds', `must be ${life.min} to ${life.max}`);
    this.#forgetOld();
    const ticket = randomBytes(32).toString('base64url');
    this.#tickets.set(keyOf(ticket), {
      scope,
      deadline: monotonic() + ttlS * 1000,
      issuer,
      principal: Object.freeze({ kind: 'ticket', id: `${TICKET_OF}${issuer.id}`, scopes: issuer.scopes }),
    });
    return { ticket, scope, ttl_seconds: ttlS, expires_at: now() / 1000 + ttlS };
  }

  /** The principal of a ticket for that scope; null if it is not valid. Changes nothing. */
  check(value: string, scope: string): Principal | null {
    const ticket = this.#live(keyOf(value));
    return ticket !== null && ticket.scope === scope ? ticket.principal : null;
  }

  /** Uses up the ticket: true for exactly one caller. */
  consume(value: string): boolean {
    const key = keyOf(value);
    const live = this.#live(key) !== null;
    this.#tickets.delete(key);
    return live;
  }

  /** Uses up a ticket for that scope. @returns who asked for it; null if it is not valid */
  take(value: string, scope: string): Principal | null {
    const key = keyOf(value);
    const ticket = this.#live(key);
    if (ticket === null || ticket.scope !== scope) return null;
    this.#tickets.delete(key);
    return ticket.issuer;
  }

  revokeAll(): void {
    this.#tickets.clear();
  }

  get size(): number {
    return this.#tickets.size;
  }

  #live(key: string): Ticket | null {
    const ticket = this.#tickets.get(key);
    if (ticket === undefined || this.#options.monotonic() >= ticket.deadline) return null;
    return this.#options.holds?.(ticket.issuer) === false ? null : ticket;
  }

  #forgetOld(): void {
    const now = this.#options.monotonic();
    for (const [key, { deadline }] of this.#tickets) if (now >= deadline) this.#tickets.delete(key);
    for (const key of this.#tickets.keys()) {
      if (this.#tickets.size < MAX_TICKETS) break;
      this.#tickets.delete(key);
    }
  }
}

/** The id of the principal that asked for this principal's ticket; what it opened lives as long as that one. */
export function ticketIssuer(principal: Principal): string | null {
  return principal.kind === 'ticket' ? principal.id.slice(TICKET_OF.length) : null;
}

/** Whether a text is `handover`, or fits the ticket template of one of the rows: `telemetry`, or `plugins.http:{id}` with an id that fits. */
export function ticketScopes(rows: readonly Row[]): (scope: string) => boolean {
  const patterns = rows.flatMap(({ ticket, params }) => {
    if (ticket === null) return [];
    const source = ticket.replace(/\{([a-z_]+)\}|[^{]/g, (text, name: string | undefined) =>
      name === undefined
        ? text.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
        : `(?:${params[name]?.pattern ?? '(?!)'})`,
    );
    return [new RegExp(`^(?:${source})$`, 'u')];
  });
  return (scope) => scope === HANDOVER || patterns.some((pattern) => pattern.test(scope));
}

function keyOf(ticket: string): string {
  return secretHash(ticket).toString('hex');
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${faultOf({ path, message }, 'The body')}.`, {
    errors: [{ path, message }],
  });
}
