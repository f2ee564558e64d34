import { createHash, randomBytes } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { readOwn } from '../../../shared/files/private-file.ts';
import { type Grant, reachOf } from '../../../shared/hub-api/caller.ts';
import type { signedIn } from '../../../shared/hub-api/schemas.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { OidcConfig } from '../config.ts';
import { isSecret, type NewCredential, sha256 } from '../keys/secret.ts';
import type { NewSignIn, SignIns } from '../stores/sign-ins.ts';
import { type Attempt, type Person, Provider } from './provider.ts';

/** How long a person may take at the provider. */
const ATTEMPT_S = 600;
/** At once: each may wait some seconds for the provider. */
const MAX_WAITING = 20;
const HOUR_MS = 3600 * 1000;
/** Bound to this host, HTTPS and every path by its name (RFC 6265bis 4.1.3). */
const COOKIE = 'svc-hub-sign-in';
const SECRET = '[A-Za-z0-9_-]{43}';

interface SignInOptions {
  readonly config: OidcConfig;
  readonly signIns: SignIns;
  /** Ends sign-ins of which somebody has too many. */
  readonly end: (ids: readonly string[]) => Promise<void>;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** What a page gets for the answer of the provider. */
type SignedIn = Made<typeof signedIn>;

/** What the audit says of it: who has which credential now, by whose word. */
type Progress = (what: string) => void;

/**
 * Signing in at a provider, at the hub's page. What belongs to one attempt is derived from a secret in a cookie of the browser that
 * began it: so no other browser can end it, any replica can, and nobody fills the hub with attempts.
 */
export class SignIn {
  /** For the page: what is on the button, and where it leads back to. */
  readonly about: Pick<OidcConfig, 'name' | 'page_url' | 'issuer' | 'scopes' | 'resources'>;
  readonly #options: SignInOptions;
  readonly #provider: Provider;
  readonly #cookie: string;
  readonly #attributes: string;
  #waiting = 0;

  private constructor(options: SignInOptions, secret: string | null) {
    const { config, now, monotonic, log } = options;
    const { name, issuer, scopes, resources } = config;
    const { origin, protocol } = new URL(config.page_url);
    const isSecure = protocol === 'https:';
    this.#options = options;
    this.about = { name, page_url: `${origin}/`, issuer, scopes, resources };
    this.#provider = new Provider({ config, secret, redirectUri: `${origin}/`, now, monotonic, log });
    this.#cookie = isSecure ? `__Host-${COOKIE}` : COOKIE;
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** @throws Error for a file of the client's secret that is not there, or that others may read */
  static async open(options: SignInOptions): Promise<SignIn> {
    const { client_secret_file: file } = options.config;
    const secret = file === null ? null : ((await readOwn(file, 0o077)) ?? '').trim();
    if (secret === '') throw new Error(`oidc.client_secret_file: there is no secret in ${file}`);
    return new SignIn(options, secret);
  }

  /** @returns where to send the browser, and the cookie that it comes back with @throws ApiError E_UPSTREAM_DOWN */
  async begin(): Promise<{ readonly url: string; readonly cookie: string }> {
    const secret = randomBytes(32).toString('base64url');
    const url = await this.#provider.address(attemptOf(secret));
    return { url, cookie: `${this.#cookie}=${secret}; Max-Age=${ATTEMPT_S}; ${this.#attributes}` };
  }

  /** Has the browser forget the attempt. */
  get forgotten(): string {
    return `${this.#cookie}=; Max-Age=0; ${this.#attributes}`;
  }

  /**
   * @param answer the query with which the provider sent the browser back
   * @param cookies the header
   * @param told gets who it is
   * @throws ApiError E_SIGN_IN for another browser's, a used or a refused one, or for a person whose groups give nothing here;
   *   E_UPSTREAM_DOWN; E_BUSY
   */
  async end(answer: string, cookies: string, told: Progress): Promise<SignedIn> {
    const secret = new RegExp(`(?:^|; ?)${this.#cookie}=(${SECRET})(?:;|$)`).exec(cookies)?.[1];
    const attempt = attemptOf(secret ?? '');
    const state = new URLSearchParams(answer).get('state') ?? '';
    if (secret === undefined || !isSecret(state, sha256(attempt.state)))
      throw new ApiError(
        'E_SIGN_IN',
        'This sign-in was not begun in this browser, or more than ten minutes ago.',
      );
    return this.#inTurn(async () => {
      const person = await this.#provider.person(answer, attempt);
      told(nameOf(person));
      const made = await this.#enter(person, async (signIn) => {
        const credential = await this.#options.signIns.add({ ...signIn, state: sha256(attempt.state) });
        if (credential !== null) return credential;
        throw new ApiError('E_SIGN_IN', 'This answer of the provider was used before.');
      });
      told(`${made.id} ${nameOf(person)} group ${made.group}`);
      return made;
    });
  }

  /**
   * With an access token of the provider that was made for one of our resources: the connector's, for a hosted client. Later ones of
   * a person for it and by the same group go on with the same id; a token that is older than the end of that sign-in does not.
   * @param told gets who it is
   * @throws ApiError E_NOT_IMPLEMENTED, E_SIGN_IN, E_UPSTREAM_DOWN, E_BUSY
   */
  async byToken(token: string, resource: string, told: Progress): Promise<SignedIn> {
    const { config, signIns } = this.#options;
    if (config.resources.length === 0)
      throw new ApiError('E_NOT_IMPLEMENTED', 'This hub takes no tokens (oidc.resources in hub.yaml).');
    if (!config.resources.includes(resource))
      throw new ApiError(
        'E_SIGN_IN',
        'This hub takes no tokens for that address (oidc.resources in hub.yaml).',
      );
    return this.#inTurn(async () => {
      const { person, issuedAt, expiresAt } = await this.#provider.bearer(token, resource);
      told(nameOf(person));
      const made = await this.#enter(
        person,
        async (signIn) => {
          const state = sha256(JSON.stringify([resource, signIn.subject, signIn.group]));
          const credential = await signIns.renew({ ...signIn, state }, issuedAt);
          if (credential !== null) return credential;
          throw new ApiError('E_SIGN_IN', 'This sign-in was ended at the hub. Sign in again.');
        },
        expiresAt,
      );
      told(`${made.id} ${nameOf(person)} group ${made.group} for ${resource}`);
      return made;
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      throw new ApiError('E_BUSY', 'Many people sign in at this moment. Try again.');
    this.#waiting++;
    try {
      return await work();
    } finally {
      this.#waiting--;
    }
  }

  async #enter(
    { subject, name, groups }: Person,
    keep: (signIn: Omit<NewSignIn, 'state'>) => Promise<NewCredential>,
    latest = Infinity,
  ): Promise<SignedIn> {
    const { config, signIns, end, now } = this.#options;
    const group = config.groups.find((each) => groups.has(each.group))?.group;
    const grant = group === undefined ? null : grantIn(config, group);
    if (group === undefined || grant === null)
      throw new ApiError('E_SIGN_IN', 'None of your groups may do anything at this hub. Ask who runs it.');
    const expires_at = Math.min(latest, now() + Math.floor(config.hours * HOUR_MS));
    const made = await keep({ subject, name, group, expires_at, ...grant });
    await end(await signIns.tooMany(subject));
    return { id: made.id, credential: made.text, expires_at, group };
  }
}

/** What a group may do, by the configuration; null: it is not in it. */
export function grantIn(config: OidcConfig | undefined, group: string): Grant | null {
  const found = config?.groups.find((each) => each.group === group);
  if (found === undefined) return null;
  const { scopes, nodes = null, tags = [] } = found;
  return { scopes, ...reachOf(nodes, tags) };
}

function nameOf({ subject, name }: Person): string {
  return name === subject ? subject : `${subject} (${name})`;
}

/** One secret becomes three that say nothing about each other. */
function attemptOf(secret: string): Attempt {
  const derived = (use: string): string =>
    createHash('sha256').update(`svc-hub ${use} ${secret}`).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier') };
}
