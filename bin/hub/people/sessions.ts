import { type Authority, issueCertificate } from '../../../shared/certificates/authority.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import {
  CALLER_CSR_HEADER,
  CALLER_KEY_HEADER,
  type CallerSession,
  type PersonToken,
} from '../../../shared/fleet/hub-api.ts';
import type { Caller } from '../../../shared/hub-api/caller.ts';
import type { HubCall, HubRow } from '../../../shared/hub-api/row.ts';
import { parseJson } from '../../../shared/member.ts';
import { type PublicJwk, STATEMENTS } from '../../../shared/schemas/fleet-statements.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';
import type { BrokerUrls } from '../config.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Signer } from '../keys/signer.ts';
import type { Credentials } from '../stores/credentials.ts';

const DAY_S = 24 * 3600;
/**
 * Of a person: their page asks again in time, and where the hub is away it cannot carry calls either. Of whoever has nodes by tags: a
 * node hears nothing of a tag that it has no longer, but of the end of a token.
 */
const SHORT_TTL_S = 15 * 60;
const MAX_NODES = STATEMENTS['svc-machine-token'].properties.nodes.anyOf[1].maxItems;
const isJwk = validatorOf(STATEMENTS['svc-machine-token'].properties.cnf.properties.jwk);

interface SessionsOptions {
  readonly authority: Authority;
  readonly fleetId: string;
  readonly brokers: BrokerUrls;
  readonly credentials: Credentials;
  readonly fleet: Fleet;
  readonly signer: Signer;
  /** How long a token is good, seconds. */
  readonly tokenTtl: number;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** What a connector calls nodes with: a machine token for its key, and a certificate for the broker. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** @throws ApiError E_INVALID_VALUE; E_SCOPE for another key than the credential's */
  async open(caller: Caller, headers: HubCall<HubRow>['headers']): Promise<CallerSession> {
    const { authority, brokers, credentials, tokenTtl, now } = this.#options;
    const { id, operator, tags } = caller;
    const ttl = tags.length === 0 ? tokenTtl : Math.min(tokenTtl, SHORT_TTL_S);
    const jwk = keyOf(headers[CALLER_KEY_HEADER]);
    // As long as the token, and a day for a clock that is late.
    const days = Math.ceil(tokenTtl / DAY_S) + 1;
    const csr = Buffer.from(headers[CALLER_CSR_HEADER]?.toString() ?? '', 'base64url');
    const certificate = await issueCertificate(authority, csr, { client: id }, now(), days).catch(
      (error: unknown) => {
        throw new ApiError('E_INVALID_VALUE', `${CALLER_CSR_HEADER}: ${messageOf(error)}.`);
      },
    );
    if (!(await credentials.bind(id, jwk)))
      throw new ApiError('E_SCOPE', 'This credential belongs to another key: the first one that used it.');
    return {
      operator,
      ...brokers,
      ca: authority.certificate,
      certificate,
      ...(await this.#token(caller, jwk, ttl)),
    };
  }

  /** What a person calls nodes with from the page: a token for the key in their browser, never wider than they are. */
  async person(caller: Caller, key: PublicJwk, only: readonly string[] | null): Promise<PersonToken> {
    return this.#token(caller, key, Math.min(this.#options.tokenTtl, SHORT_TTL_S), only);
  }

  /** @param only the nodes that it is for; null: all that the caller sees @throws ApiError E_INVALID_VALUE */
  async #token(
    caller: Caller,
    jwk: PublicJwk,
    ttl: number,
    only: readonly string[] | null = null,
  ): Promise<PersonToken> {
    const { fleetId: fleet, fleet: known, signer, now } = this.#options;
    const { id, scopes, expires_at: until } = caller;
    const nodes = only === null ? known.seenBy(caller) : only.filter((node) => known.sees(caller, node));
    if (nodes !== null && nodes.length > MAX_NODES)
      throw new ApiError(
        'E_INVALID_VALUE',
        `Your tags have ${nodes.length} nodes, and a token names at most ${MAX_NODES}. Use a credential of fewer tags.`,
      );
    const iat = Math.floor(now() / 1000);
    const exp = until === null ? iat + ttl : Math.min(iat + ttl, Math.floor(until / 1000));
    const granted = { scopes: [...scopes], nodes: nodes === null ? null : [...nodes] };
    const claims = { sub: id, fleet, ...granted, cnf: { jwk }, iat, exp };
    const token = await signer.sign('svc-machine-token', claims);
    return { id, fleet, ...granted, token, expires_at: exp * 1000 };
  }
}

function keyOf(header: string | string[] | undefined): PublicJwk {
  let value: unknown = null;
  try {
    value = parseJson(Buffer.from(header?.toString() ?? '', 'base64url').toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!isJwk.fits(value))
    throw new ApiError('E_INVALID_VALUE', `${CALLER_KEY_HEADER} has no Ed25519 key: base64url of its JWK.`);
  return value;
}
