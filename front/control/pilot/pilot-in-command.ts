import { randomBytes } from 'node:crypto';
import { tellAll } from '../../../shared/async/tell.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { pilotState } from '../../../shared/schemas/pilot.ts';
import { secretHash } from '../edge/credentials.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';

/** A client sends one every 2 s at least. */
const LAPSE_MS = 5000;

/** What kind of credential claimed it; a token's claim is no person's presence. */
type ClaimedBy = 'key' | 'session' | 'token';

/** RFC 3339 times; all null while nobody is pilot in command. */
export type PilotState = Made<typeof pilotState>;

type PilotEventName = 'claimed' | 'taken_over' | 'released' | 'lapsed' | 'ended';

export interface PilotEvent extends PilotState {
  readonly event: PilotEventName;
  /** Whom it is about: who claimed, or who no longer is pilot. */
  readonly client_id: string;
}

interface PilotOptions {
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly armed: () => Armed;
  readonly principalWatch: Pick<PrincipalWatch, 'onEnd'>;
  /** Tells svc-link who may send to the vehicle; it forgets by itself if it is not told again. */
  readonly tell: (clientId: string | null) => Promise<unknown>;
  readonly log: Logger;
}

interface Claim {
  readonly principal: Principal;
  readonly clientId: string;
  readonly secretHash: Buffer;
  readonly claimedAt: number;
  heartbeatAt: number;
  lapse: NodeJS.Timeout;
  readonly release: () => void;
}

const NOBODY: PilotState = { claimed_by: null, by: null, claimed_at: null, last_heartbeat_at: null };

/**
 * The one pilot in command of a ground station (docs/contract/ground.md#pilot-in-command), in memory: after a restart of svc-control it is claimed
 * again. It decides who may send commands, and never sends one itself.
 */
export class PilotInCommand implements PilotRule {
  readonly #options: PilotOptions;
  readonly #listeners = new Set<(event: PilotEvent) => void>();
  #claim: Claim | null = null;

  constructor(options: PilotOptions) {
    this.#options = options;
  }

  stop(): void {
    if (this.#claim !== null) this.#drop(this.#claim);
  }

  get state(): PilotState {
    const claim = this.#claim;
    if (claim === null) return NOBODY;
    return {
      claimed_by: claim.clientId,
      by: claimedBy(claim.principal),
      claimed_at: new Date(claim.claimedAt).toISOString(),
      last_heartbeat_at: new Date(claim.heartbeatAt).toISOString(),
    };
  }

  /** @returns a function that stops this */
  onEvent(listener: (event: PilotEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  otherThan(clientId: string | null): string | null {
    const pilot = this.#claim?.clientId ?? null;
    return pilot === clientId ? null : pilot;
  }

  /**
   * Makes the client pilot in command; again by the same client: a new secret.
   * @returns the secret that its heartbeats carry
   * @throws ApiError E_PIC_HELD (extra `claimed_by`) while it is another one's, without `takeOver`
   */
  claim(principal: Principal, clientId: string, takeOver: boolean): PilotState & { readonly secret: string } {
    const before = this.#claim;
    const again = before !== null && isHolder(before, principal, clientId);
    if (before !== null && !again && !takeOver)
      throw new ApiError(
        'E_PIC_HELD',
        `${before.clientId} is pilot in command. Repeat with take_over if that is agreed.`,
        {
          claimed_by: before.clientId,
        },
      );
    if (before !== null) this.#drop(before);
    const secret = randomBytes(16).toString('base64url');
    const now = this.#options.now();
    this.#claim = {
      principal,
      clientId,
      secretHash: secretHash(secret),
      claimedAt: again ? before.claimedAt : now,
      heartbeatAt: now,
      lapse: this.#lapseLater(),
      release: this.#options.principalWatch.onEnd(principal, () => this.#end('ended')),
    };
    this.#tell();
    if (!again) this.#emit(before === null ? 'claimed' : 'taken_over', clientId);
    return { ...this.state, secret };
  }

  /** @throws ApiError E_NOT_PIC if this client is not the pilot, or this is not the secret of its claim */
  heartbeat(principal: Principal, clientId: string, secret: string): PilotState {
    const claim = this.#mine(principal, clientId);
    if (!secretHash(secret).equals(claim.secretHash))
      throw new ApiError('E_NOT_PIC', 'Wrong secret for the current claim. Take command again.');
    claim.heartbeatAt = this.#options.now();
    clearTimeout(claim.lapse);
    claim.lapse = this.#lapseLater();
    this.#tell();
    return this.state;
  }

  /** @throws ApiError E_NOT_PIC */
  release(principal: Principal, clientId: string): PilotState {
    this.#mine(principal, clientId);
    this.#end('released');
    return this.state;
  }

  #mine(principal: Principal, clientId: string): Claim {
    const claim = this.#claim;
    if (claim !== null && isHolder(claim, principal, clientId)) return claim;
    const who = claim === null ? 'Nobody' : claim.clientId;
    throw new ApiError('E_NOT_PIC', `${who} is pilot in command, not ${clientId}. Take command first.`, {
      claimed_by: claim?.clientId ?? null,
    });
  }

  #lapseLater(): NodeJS.Timeout {
    return setTimeout(() => this.#end('lapsed'), LAPSE_MS).unref();
  }

  #end(event: PilotEventName): void {
    const claim = this.#claim;
    if (claim === null) return;
    this.#drop(claim);
    this.#tell();
    const { log, armed } = this.#options;
    const words = `pilot in command: ${claim.clientId} ${event}`;
    // The vehicle goes on with what it does: whoever lost the link may be about to come back.
    if (event !== 'released' && armed() !== false)
      log.warn(`${words} in flight; nothing was sent to the vehicle`);
    this.#emit(event, claim.clientId);
  }

  #drop(claim: Claim): void {
    clearTimeout(claim.lapse);
    claim.release();
    this.#claim = null;
  }

  #emit(name: PilotEventName, clientId: string): void {
    this.#options.log.info(`pilot in command: ${clientId} ${name}`, { client_id: clientId, event: name });
    const event: PilotEvent = { event: name, client_id: clientId, ...this.state };
    tellAll('the pilot in command', this.#listeners, event);
  }

  #tell(): void {
    const { tell, log } = this.#options;
    tell(this.#claim?.clientId ?? null).catch((error: unknown) =>
      log.warn(`pilot in command: svc-link was not told: ${messageOf(error)}`),
    );
  }
}

/** A claim is kept and given back with the credential that made it. */
function isHolder(claim: Claim, principal: Principal, clientId: string | null): boolean {
  return (
    claim.clientId === clientId &&
    claim.principal.kind === principal.kind &&
    claim.principal.id === principal.id
  );
}

function claimedBy({ kind }: Principal): ClaimedBy {
  if (kind === 'token') return 'token';
  return kind === 'session' ? 'session' : 'key';
}
