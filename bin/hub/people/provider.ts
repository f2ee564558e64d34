import { createRemoteJWKSet, errors, type JWTVerifyGetKey, customFetch as joseFetch, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { type JsonObject, memberOf } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { OidcConfig } from '../config.ts';

/** For each question to the provider; whoever signs in waits for at most four. */
const TIMEOUT_S = 4;
/** The longest answer of the provider: a token with some thousand groups. */
const MAX_BYTES = 1024 * 1024;
/** How long what the provider says about itself is believed. */
const METADATA_MS = 3600 * 1000;
const CLOCKS_S = 30;
/** Of RFC 6749 4.1.2.1: what is in an error's code. */
const REFUSED = /^[a-z_]{1,64}$/;
const TOO_LONG = `The answer is larger than ${MAX_BYTES} bytes`;
/** The messages of an answer that did not come. */
const AWAY: ReadonlySet<string> = new Set([TOO_LONG, 'fetch failed', 'terminated']);
const MAX_TEXT = 128;
/** Of tokens that anybody may bring: asymmetric ones alone, as the provider publishes no secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** RFC 9068 2.1; not all providers say so. */
const TYPES: ReadonlySet<string | undefined> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined]);
/** What only ID tokens have (OpenID Connect Core 1.0, 2 and 3.3.2.11). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash'] as const;
/** Characters of a `sub` (OpenID Connect Core 1.0, 2). */
const MAX_SUBJECT = 255;

/** What belongs to one sign-in, known to the browser that began it and to nobody else. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  /** PKCE, RFC 7636. */
  readonly verifier: string;
}

/** Whom the provider vouches for. */
export interface Person {
  readonly subject: string;
  readonly name: string;
  readonly groups: ReadonlySet<string>;
}

/** Whom an access token speaks for, and from when to when, ms since 1970. */
interface Bearer {
  readonly person: Person;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

interface ProviderOptions {
  readonly config: OidcConfig;
  /** Null for a client without one. */
  readonly secret: string | null;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly log: Logger;
}

/**
 * The provider of OpenID Connect: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0, 3.1). Its ID token counts by
 * its signature, also though it comes by TLS from the provider itself. Nothing is asked of it before somebody signs in.
 */
export class Provider {
  readonly #options: ProviderOptions;
  #keys: { readonly uri: string; readonly of: JWTVerifyGetKey } | null = null;
  #known: { readonly configuration: Promise<Configuration>; readonly until: number } | null = null;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** Where the browser is sent. @throws ApiError E_UPSTREAM_DOWN */
  async address({ state, nonce, verifier }: Attempt): Promise<string> {
    const { config, redirectUri } = this.#options;
    const configuration = await this.#asking(async () => this.#configuration());
    return buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: config.scopes.join(' '),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).href;
  }

  /**
   * @param answer the query with which the provider has sent the browser back
   * @throws ApiError E_SIGN_IN for whatever is not believed; E_UPSTREAM_DOWN where the provider does not answer
   */
  async person(answer: string, { state, nonce, verifier }: Attempt): Promise<Person> {
    const { config, redirectUri, now } = this.#options;
    const claim = config.groups_claim;
    return this.#asking(async () => {
      const configuration = await this.#configuration();
      const url = new URL(`${redirectUri}?${answer}`);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await authorizationCodeGrant(configuration, url, checks);
      const claims = tokens.claims();
      if (claims === undefined) throw refusal('The provider sent no ID token.');
      // The library looks at `exp` and `nbf`.
      if (claims.iat > now() / 1000 + CLOCKS_S)
        throw refusal("The ID token of the provider is from the future. Compare its clock with the hub's.");
      // Some put little into the token, and the rest there.
      const asksMore = claims[claim] === undefined && configuration.serverMetadata().userinfo_endpoint;
      const more = asksMore ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
      return personOf({ ...more, ...claims }, claim, 'neither its ID token nor its userinfo has');
    });
  }

  /**
   * Of an access token of this provider (RFC 9068), by its signature.
   * @param resource that it must be for
   * @throws ApiError as of `person`
   */
  async bearer(token: string, resource: string): Promise<Bearer> {
    const { config, now } = this.#options;
    return this.#asking(async () => {
      const { issuer, jwks_uri: uri } = (await this.#configuration()).serverMetadata();
      if (uri === undefined || (issuer.startsWith('https:') && !uri.startsWith('https:')))
        throw refusal('The provider publishes no keys by https.');
      const { payload, protectedHeader } = await jwtVerify(token, this.#keysAt(uri), {
        issuer,
        audience: resource,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCKS_S,
        requiredClaims: ['exp', 'iat', 'sub'],
        currentDate: new Date(now()),
      });
      const { exp = 0, iat = 0 } = payload;
      if (!TYPES.has(protectedHeader.typ?.toLowerCase()) || OF_ID_TOKENS.some((name) => name in payload))
        throw refusal('This is no access token.');
      if (iat > now() / 1000 + CLOCKS_S)
        throw refusal("The provider's token is from the future. Compare its clock with the hub's.");
      const person = personOf(payload, config.groups_claim, 'its access token does not have');
      return { person, issuedAt: iat * 1000, expiresAt: exp * 1000 };
    });
  }

  /** A key that is not known is asked for once in 30 s. */
  #keysAt(uri: string): JWTVerifyGetKey {
    if (this.#keys?.uri !== uri) {
      const options = {
        timeoutDuration: TIMEOUT_S * 1000,
        [joseFetch]: async (url: string, how: RequestInit) => bounded(await fetch(url, how)),
      };
      this.#keys = { uri, of: createRemoteJWKSet(new URL(uri), options) };
    }
    return this.#keys.of;
  }

  async #configuration(): Promise<Configuration> {
    const { monotonic } = this.#options;
    if (this.#known === null || monotonic() > this.#known.until) {
      const configuration = this.#discover();
      const known = { configuration, until: monotonic() + METADATA_MS };
      this.#known = known;
      configuration.catch(() => {
        if (this.#known === known) this.#known = null;
      });
    }
    return this.#known.configuration;
  }

  async #discover(): Promise<Configuration> {
    const { config, secret } = this.#options;
    const { issuer, client_id, client_auth } = config;
    const how =
      secret === null
        ? None()
        : client_auth === 'client_secret_post'
          ? ClientSecretPost(secret)
          : ClientSecretBasic(secret);
    const isPlain = issuer.startsWith('http:'); // on this machine alone, as the configuration is checked
    return discovery(new URL(issuer), client_id, { [clockTolerance]: CLOCKS_S }, how, {
      [customFetch]: fetchBounded,
      timeout: TIMEOUT_S,
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    });
  }

  async #asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ApiError) throw error;
      this.#options.log.warn(`sign-in: ${whatOf(error)}`);
      throw errorFor(error);
    }
  }
}

/** As the library calls it. An answer that is too long ends; that is an error of reading then. */
const fetchBounded: CustomFetch = async (url, { body, signal, ...options }) => {
  const sent = body instanceof Uint8Array ? new Uint8Array(body) : body;
  const answer = await fetch(url, {
    ...options,
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal === undefined ? {} : { signal }),
  });
  return bounded(answer);
};

function bounded({ body, status, headers }: Response): Response {
  let size = 0;
  const counted = body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        size += chunk.byteLength;
        if (size > MAX_BYTES) controller.error(new Error(TOO_LONG));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted ?? null, { status, headers });
}

/** Of the claims that were checked. @throws ApiError E_SIGN_IN */
function personOf(claims: JsonObject, claim: string, lacks: string): Person {
  const { sub, name, preferred_username: user, email } = claims;
  const told = claims[claim];
  const subject = shown(sub, MAX_SUBJECT);
  if (subject === null || subject !== sub) throw refusal('The provider gives this person no usable `sub`.');
  if (told === undefined || told === null)
    throw refusal(
      `The provider tells no groups of this person: ${lacks} the claim \`${claim}\`. Whoever runs it adds that claim, or whoever runs the hub names another (\`groups_claim\`, \`scopes\`).`,
    );
  // Some tell one group as a text. It is taken as it is: parts of it may be the name of another group.
  const groups: unknown = typeof told === 'string' ? [told] : told;
  if (!Array.isArray(groups) || !groups.every((each) => typeof each === 'string'))
    throw refusal(`The provider's claim \`${claim}\` is no list of groups.`);
  return {
    subject,
    name: shown(name) ?? shown(user) ?? shown(email) ?? subject,
    groups: new Set(groups),
  };
}

/** A text of the provider as it may be stored and shown; null where nothing is left. */
function shown(text: unknown, most = MAX_TEXT): string | null {
  if (typeof text !== 'string') return null;
  const clean = plainText(text).trim().slice(0, most).toWellFormed();
  return clean === '' ? null : clean;
}

function refusal(detail: string): ApiError {
  return new ApiError('E_SIGN_IN', detail);
}

/** Which of the many ways to fail it was, for people; the log says the rest. */
function errorFor(error: unknown): ApiError {
  if (isAway(error))
    return new ApiError('E_UPSTREAM_DOWN', 'The provider of the sign-in does not answer. Try again later.');
  const isOld = error instanceof errors.JWTExpired;
  if (isOld) return refusal("The provider's token has expired. Sign in again.");
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
    return refusal("The provider's token is for something else: its audience is not this address.");
  const refused = memberOf(error, 'error');
  if (typeof refused === 'string' && REFUSED.test(refused))
    return refusal(`The provider refused the sign-in (${refused}). Begin again.`);
  return refusal('The hub does not believe what the provider answered. Its log says why.');
}

/** Nothing came, not in time, not to the end, or that it has failed. */
function isAway(error: unknown): boolean {
  if (error instanceof Response) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  return (
    error instanceof errors.JWKSTimeout ||
    error.name === 'TimeoutError' ||
    AWAY.has(error.message) ||
    isAway(error.cause)
  );
}

/** Never the cause itself, in which there may be tokens. */
function whatOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each instanceof Error && texts.length < 4; each = each.cause)
    texts.push(messageOf(each));
  const claim = memberOf(memberOf(memberOf(error, 'cause'), 'cause'), 'claim');
  if (typeof claim === 'string') texts.push(claim);
  return texts.join(': ').slice(0, 500);
}
