import { every } from '../../shared/async/every.ts';
import { certificateRequest } from '../../shared/certificates/request.ts';
import { messageOf } from '../../shared/errors.ts';
import {
  CALLER_CSR_HEADER,
  CALLER_KEY_HEADER,
  type CallerSession,
  callerSession,
  type PersonToken,
  personToken,
} from '../../shared/fleet/hub-api.ts';
import { CALLER_ID } from '../../shared/fleet/topics.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import type { CallerKeys } from './caller-keys.ts';
import { askHub, HubError, type HubPlace } from './hub.ts';

const isSession = validatorOf(callerSession);
const isToken = validatorOf(personToken);

/** What calls to nodes are made with. */
export interface Granted extends PersonToken {
  readonly operator: string;
  /** The way to the broker; null for a person, whose calls the hub carries. */
  readonly way: Pick<CallerSession, 'broker' | 'broker_ws' | 'ca' | 'certificate'> | null;
}

/** How often the hub is asked whether the credential still counts. */
const VERIFY_MS = 60_000;
const LOOK_MS = 5000;
/** A hub that is away is not asked at every call. */
const AGAIN_MS = 10_000;

interface HubSessionOptions {
  readonly hub: HubPlace;
  /** Their name, where the credential is one of a person who has signed in. */
  readonly person?: string;
  readonly keys: CallerKeys;
  /** Steady, and wall clock, ms. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly log: Logger;
}

/**
 * What the hub has granted to the credential of a machine or a person: a token bound to our key, scopes and nodes, and for a
 * machine a client certificate. The token is renewed at half its life. Every 60 s the hub is asked whether the credential still counts; one that is revoked ends
 * every call. While the hub is away, the last token counts until it expires.
 */
export class HubSession {
  readonly #options: HubSessionOptions;
  #granted: Granted;
  #reach: ReadonlySet<string> | null = null;
  /** Wall clock, ms. */
  #grantedAt: number;
  #verifiedAt: number;
  #triedAt: number;
  /** Why the hub no longer honours the credential. */
  #refusal: string | null = null;
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  private constructor(options: HubSessionOptions, granted: Granted) {
    this.#options = options;
    this.#granted = granted;
    this.#reach = reachOf(granted);
    this.#grantedAt = options.wall();
    this.#verifiedAt = options.now();
    this.#triedAt = this.#verifiedAt;
  }

  /** @throws HubError */
  static async open(options: HubSessionOptions): Promise<HubSession> {
    return new HubSession(options, await askSession(options));
  }

  get granted(): Granted {
    return this.#granted;
  }

  /** The nodes of the credential; null: every one. */
  get reach(): ReadonlySet<string> | null {
    return this.#reach;
  }

  get keys(): CallerKeys {
    return this.#options.keys;
  }

  /** Whoever uses this connector: with the credential's scopes as they are now. */
  get principal(): Principal {
    const scopes = (): Granted['scopes'] => this.#granted.scopes;
    return {
      kind: 'machine',
      id: this.#granted.id,
      operatorId: this.#granted.operator,
      get scopes() {
        return scopes();
      },
      token: null,
      deviceId: null,
    };
  }

  start(): void {
    this.#timer = every(LOOK_MS, 'machine credential', async () => this.#refresh());
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** The credential still counts: the hub has said so in the last 60 s, or is away. @throws Denial token_revoked, token_expired */
  async confirm(): Promise<void> {
    await this.#refresh();
    this.check();
  }

  /** The credential may have ended: the hub is asked before the next call. */
  doubt(): void {
    if (this.#refusal !== null) return;
    this.#verifiedAt = -Infinity;
    // Only the hub itself makes a person's doubtful, so it is there.
    if (this.#granted.way === null) this.#triedAt = -Infinity;
  }

  /** The credential was replaced by a newer one of the same id: what it gives is asked for before the next call. */
  replaced(): void {
    this.#refusal = null;
    this.#grantedAt = -Infinity;
    this.#verifiedAt = -Infinity;
    this.#triedAt = -Infinity;
  }

  /** As far as is known without asking. @throws Denial token_revoked, token_expired */
  check(): void {
    if (this.#refusal !== null) throw new Denial('token_revoked', this.#refusal);
    if (this.#granted.expires_at <= this.#options.wall())
      throw new Denial(
        'token_expired',
        'The token for the nodes has expired, and the hub has given no other.',
      );
  }

  async #refresh(): Promise<void> {
    const { now } = this.#options;
    if (now() - this.#verifiedAt < VERIFY_MS) return;
    if (this.#asking === null && now() - this.#triedAt < AGAIN_MS) return;
    this.#triedAt = now();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { log, now } = this.#options;
    try {
      const granted = await this.#asked();
      // A caller's id is its place at the broker: another one is another credential.
      if (granted.id !== this.#granted.id || granted.fleet !== this.#granted.fleet)
        throw new HubError(
          403,
          'The hub knows this credential under another name. Start the connector anew.',
        );
      this.#granted = granted;
      this.#reach = reachOf(granted);
      this.#refusal = null;
      this.#verifiedAt = now();
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (error.status === 401 || error.status === 403) {
        if (this.#refusal === null) log.error(messageOf(error));
        this.#verifiedAt = now(); // that is an answer too: the next question is in 60 s
        this.#refusal = `The hub does not honour the credential any more: ${error.message}`;
      } else log.warn(messageOf(error));
    }
  }

  /** A new token from the half of its life on; before that only whether the credential counts. @throws HubError */
  async #asked(): Promise<Granted> {
    const { hub, wall } = this.#options;
    if (wall() < (this.#grantedAt + this.#granted.expires_at) / 2) {
      await askHub(hub, '/v1/me');
      return this.#granted;
    }
    const granted = await askSession(this.#options);
    this.#grantedAt = wall();
    return granted;
  }
}

function reachOf({ nodes }: Granted): ReadonlySet<string> | null {
  return nodes === null ? null : new Set(nodes);
}

/** @throws HubError */
async function askSession({ hub, keys, person }: HubSessionOptions): Promise<Granted> {
  if (person !== undefined) {
    const token = await askHub(hub, '/v1/me/token', { body: { key: keys.jwk } });
    if (isToken.fits(token)) return { ...token, operator: person, way: null };
    throw new HubError(null, `The hub's token is not as expected: ${isToken(token)?.[0]?.path ?? ''}`);
  }
  const { der } = await certificateRequest(keys.certificate);
  const body = await askHub(hub, '/api/mcp/session', {
    headers: {
      [CALLER_KEY_HEADER]: Buffer.from(JSON.stringify(keys.jwk)).toString('base64url'),
      [CALLER_CSR_HEADER]: der.toString('base64url'),
    },
  });
  if (isSession.fits(body) && CALLER_ID.test(body.id)) return { ...body, way: body };
  throw new HubError(null, `The hub's session is not as expected: ${isSession(body)?.[0]?.path ?? '/id'}`);
}
