import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../../shared/auth/principal.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { matchesHash } from '../edge/credentials.ts';
import type { CredentialChecks } from '../edge/decision.ts';
import { ticketIn } from '../edge/headers.ts';
import { groundOf } from '../edge/relay.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import { EndedCredentials } from '../stores/ended.ts';
import type { Lived } from '../stores/lived-time.ts';
import { PairingStore } from '../stores/pairing.ts';
import { PinStore } from '../stores/pin.ts';
import { SessionStore } from '../stores/sessions.ts';
import {
  READ_TICKET_LIFE_S,
  TICKET_LIFE_S,
  TicketStore,
  ticketIssuer,
  ticketScopes,
} from '../stores/tickets.ts';
import { TokenStore } from '../stores/tokens.ts';

const NO_KEY = Buffer.alloc(0);

interface CredentialOptions {
  readonly paths: Paths;
  readonly rows: readonly Row[];
  readonly deviceId: string;
  /** Whether scoped tokens are honoured. */
  readonly acceptTokens: boolean;
  readonly radios: Pick<BoundRadios, 'relaySecret'>;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  /** Started before. */
  readonly lived: Lived;
  readonly log: Logger;
}

/**
 * Every credential of the node and what each depends on: the pairing is the root; sessions depend on the PIN and the pairing,
 * tickets on the credential that asked for them. When one ends, all that depend on it end at once.
 */
export class Credentials {
  readonly pairing: PairingStore;
  readonly pin: PinStore;
  readonly sessions: SessionStore;
  readonly tickets: TicketStore;
  readonly readTickets: TicketStore;
  readonly tokens: TokenStore;
  readonly ended: EndedCredentials;
  /** Whether a caller of the fleet, by the id of its principal, could still call; the fleet is opened later. */
  fleetHolds: (id: string) => boolean = () => false;
  readonly #radios: Pick<BoundRadios, 'relaySecret'>;

  constructor({
    paths,
    rows,
    deviceId,
    acceptTokens,
    radios,
    now,
    monotonic,
    lived,
    log,
  }: CredentialOptions) {
    this.#radios = radios;
    const revoke = async (): Promise<void> => {
      this.tickets.revokeAll();
      this.readTickets.revokeAll();
      await this.sessions.revokeAll();
    };
    this.pairing = new PairingStore({
      file: paths.pairing,
      now,
      monotonic,
      log,
      onChange: () => {
        revoke().catch((error: unknown) => log.error(`sessions: ${messageOf(error)}`));
      },
    });
    this.pin = new PinStore({ file: paths.dashboardPin, now, lived, log, onChange: revoke });
    const ended = new EndedCredentials(paths.ended, log);
    this.ended = ended;
    this.sessions = new SessionStore({
      file: paths.sessions,
      ended,
      now,
      lived,
      log,
      binding: () =>
        `${this.pin.fingerprint} ${this.pairing.paired} ${this.pairing.keyHash?.toString('hex') ?? ''}`,
    });
    const holds = (issuer: Principal): boolean => this.#stillHolds(issuer.id);
    this.tickets = new TicketStore({
      now,
      monotonic,
      isScope: ticketScopes(rows),
      life: TICKET_LIFE_S,
      holds,
    });
    // Which paths there are tickets for, the edge has said before one is issued.
    this.readTickets = new TicketStore({
      now,
      monotonic,
      isScope: () => true,
      life: READ_TICKET_LIFE_S,
      holds,
    });
    this.tokens = new TokenStore({
      file: paths.mcpToken,
      ended,
      accept: acceptTokens,
      pairingKey: () => this.pairing.key,
      deviceId,
      now,
      lived,
      log,
    });
  }

  /** What is wrong with their files, a sentence each. */
  get problems(): readonly string[] {
    const { pairing, pin, tokens, sessions } = this;
    return [pairing, pin, tokens, sessions].flatMap(({ problem }) => problem ?? []);
  }

  /** The checks that `decide` calls. */
  get checks(): CredentialChecks {
    return {
      session: (value) => this.sessions.check(value),
      ticket: (value, scope) => this.tickets.check(value, scope),
      readTicket: (value, path) => this.readTickets.check(value, path),
      token: (value) => this.tokens.verify(value),
    };
  }

  /** The order matters: the sessions' binding reads the other two. */
  async start(): Promise<void> {
    await this.pairing.start();
    await this.pin.start();
    await this.sessions.start();
  }

  async stop(): Promise<void> {
    await this.tokens.stop();
    await this.ended.written();
    await this.sessions.stop();
    await this.pin.stop();
    await this.pairing.stop();
  }

  /** Whether a request shows the pairing key of this moment. */
  isKey({ 'x-svc-key': key }: IncomingHttpHeaders): boolean {
    const { keyHash } = this.pairing;
    return typeof key === 'string' && keyHash !== null && matchesHash(key, keyHash);
  }

  /** Uses up the single-use credential of an upgrade; false if another one used it first. */
  spend(principal: Principal, headers: IncomingHttpHeaders): boolean {
    if (principal.kind === 'ticket')
      return this.tickets.consume(ticketIn(headers['sec-websocket-protocol'] ?? '') ?? '');
    return true;
  }

  /** @returns a check whether the caller's credential is still valid; it may be called again and again */
  holds(principal: Principal): () => boolean {
    const { keyHash } = this.pairing;
    const secret = this.#relaySecretOf(principal);
    const id = ticketIssuer(principal) ?? principal.id;
    switch (principal.kind) {
      case 'local':
      case 'extension':
      case 'onbox':
      case 'anonymous':
        return () => true;
      case 'gate':
        return () => !this.pairing.paired;
      case 'fleet':
        // Each call proves itself; what outlives it ends when its caller could not call any more.
        return () => this.pairing.keyHash === keyHash && this.fleetHolds(principal.id);
      case 'relay':
        // While the drone itself stays paired, and its radio is bound to that ground station by that key.
        return () =>
          this.pairing.keyHash === keyHash &&
          secret?.equals(this.#relaySecretOf(principal) ?? NO_KEY) === true;
      case 'key':
      case 'session':
      case 'ticket':
      case 'token':
        // The pairing store makes a new hash object only for a new pairing.
        return () => this.pairing.keyHash === keyHash && this.#stillHolds(id);
    }
  }

  /** Notes that the session behind a request was used. @param ip of the caller */
  seen(principal: Principal, ip: string): void {
    this.sessions.seen(ticketIssuer(principal) ?? principal.id, ip);
  }

  #relaySecretOf({ id }: Principal): Buffer | null {
    const ground = groundOf(id);
    return ground === null ? null : this.#radios.relaySecret(ground);
  }

  #stillHolds(id: string): boolean {
    const ground = groundOf(id);
    if (ground !== null) return this.#radios.relaySecret(ground) !== null;
    if (id.startsWith('session:')) return this.sessions.holds(id);
    return !id.startsWith('mct_') || this.tokens.holds(id);
  }
}
