import type { Principal } from '../../../shared/auth/principal.ts';
import { isScope, type Scope } from '../../../shared/auth/scopes.ts';
import { bodySha256, NotBelieved, thumbprint, verifyStatement } from '../../../shared/fleet/signed.ts';
import { type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';
import type {
  CallStatement,
  Confirm,
  MachineToken,
  PublicJwk,
} from '../../../shared/schemas/fleet-statements.ts';
import type { FleetCredential } from '../edge/decision.ts';
import type { Nonces } from './nonces.ts';
import type { PolicyStore } from './policy-store.ts';

interface CallVerifierOptions {
  readonly node: string;
  readonly fleet: () => string | null;
  readonly policy: Pick<PolicyStore, 'key' | 'isRevoked' | 'seconds' | 'proves'>;
  readonly nonces: Nonces;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  /** `fleet.operators` and `fleet.scopes` of the config. */
  readonly operators: readonly string[];
  readonly scopes: readonly string[];
}

/** A call as it came, verified or not. */
interface ReadCall {
  readonly statement: CallStatement;
  readonly credential: FleetCredential;
  /** Under which its repetitions are known; null for one that is not believed. */
  readonly id: string | null;
}

/** Longer than a nonce is good: a confirmation that was here before is for a call that is old by then. */
const SPENT_MS = 60_000;
const MAX_SPENT = 2000;

const MAX_SHOWN = 1000;

const NEEDS_CONFIRM: readonly Scope[] = ['flight', 'destructive'];

/** Verifies calls of the fleet: the hub's token, the caller's signature, the nonce and a person's confirmation. */
export class CallVerifier {
  readonly #options: CallVerifierOptions;
  /** For which call each confirmation was used, by operator and jti, the oldest first. */
  readonly #spent = new Map<string, { readonly call: string; readonly at: number }>();
  /** By thumbprint. */
  readonly #operators: Promise<ReadonlyMap<string, { readonly name: string; readonly key: PublicJwk }>>;

  /** By caller: until when the newest token that it has shown is good, seconds since 1970. The one silent longest comes first. */
  readonly #shown = new Map<string, { readonly fleet: string; readonly exp: number }>();

  constructor(options: CallVerifierOptions) {
    this.#options = options;
    this.#operators = operatorKeys(options.operators);
  }

  /**
   * @param caller who sent it, as the broker says
   * @returns null for what does not even name a call
   */
  async read(caller: string, jws: string): Promise<ReadCall | null> {
    const claimed = unverified(jws);
    try {
      return await this.#verify(caller, jws);
    } catch (error) {
      if (!(error instanceof NotBelieved)) throw error;
      if (claimed === null) return null;
      const credential = refused('E_UNAUTHENTICATED', `The call is not believed: ${error.message}.`);
      return { statement: claimed, credential, id: null };
    }
  }

  /**
   * Whether this caller could still call: for what one call has opened and others keep in use.
   * @param id of its principal
   */
  holds(id: string): boolean {
    const { policy, fleet } = this.#options;
    const [, sub = ''] = /^fleet:([^/]+)/.exec(id) ?? [];
    const shown = this.#shown.get(sub);
    return (
      shown !== undefined && shown.fleet === fleet() && !policy.isRevoked(sub) && shown.exp > policy.seconds
    );
  }

  #note({ sub, fleet, exp }: MachineToken): void {
    const before = this.#shown.get(sub);
    this.#shown.delete(sub);
    this.#shown.set(sub, { fleet, exp: before?.fleet === fleet ? Math.max(exp, before.exp) : exp });
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MAX_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
  }

  async #verify(caller: string, jws: string): Promise<ReadCall> {
    const { node, nonces } = this.#options;
    let token: MachineToken | null = null;
    const {
      payload: statement,
      confirm,
      kid,
    } = await verifyStatement('svc-call', jws, async (_kid, carried) => {
      token = await this.#token(caller, carried.token);
      return token.cnf.jwk;
    });
    if (token === null) throw new NotBelieved('it has no machine token');
    this.#note(token);
    if (statement.node !== node) throw new NotBelieved('it is for another node');
    const id = `${kid} ${statement.jti}`;
    const age = nonces.ageOf(statement.nonce, statement.within_ms);
    if (age !== 'fresh') return { statement, credential: unfresh(age, nonces.current), id };
    try {
      return { statement, credential: await this.#credential(token, statement, confirm, id), id };
    } catch (error) {
      if (!(error instanceof NotBelieved)) throw error;
      return {
        statement,
        credential: refused('E_CONFIRM', `The confirmation is not believed: ${error.message}.`),
        id,
      };
    }
  }

  async #token(caller: string, jws: string | undefined): Promise<MachineToken> {
    const { policy, fleet, node } = this.#options;
    if (jws === undefined) throw new NotBelieved('it has no machine token');
    const { payload } = await verifyStatement('svc-machine-token', jws, (kid) => policy.key(kid));
    if (payload.fleet !== fleet()) throw new NotBelieved('its token is of another fleet');
    if (payload.sub !== caller) throw new NotBelieved('its token is of another caller');
    if (policy.isRevoked(payload.sub)) throw new NotBelieved('its credential was revoked');
    policy.proves(payload.iat);
    if (payload.exp <= policy.seconds) throw new NotBelieved('its token has expired');
    if (payload.nodes !== null && !payload.nodes.includes(node))
      throw new NotBelieved('its credential is not for this node');
    return payload;
  }

  async #credential(
    token: MachineToken,
    statement: CallStatement,
    jws: string | undefined,
    id: string,
  ): Promise<FleetCredential> {
    const confirmation = jws === undefined ? null : await this.#confirmation(statement, jws, id);
    // Local by intent: the hub cannot widen what this node lets its fleet do.
    const held = token.scopes.filter((scope): scope is Scope => isScope(scope) && scope !== 'secret_read');
    const may = held.filter((scope) => this.#options.scopes.includes(scope));
    const scopes = may.filter(
      (scope) => !NEEDS_CONFIRM.includes(scope) || confirms(confirmation?.how, scope),
    );
    const name = confirmation === null ? '' : `/${confirmation.operator}`;
    const principal: Principal = {
      kind: 'fleet',
      id: `fleet:${token.sub}${name}`,
      scopes,
      confirmable: may.filter((scope) => !scopes.includes(scope)),
      cap: { held, local: this.#options.scopes },
    };
    return { kind: 'valid', principal: Object.freeze(principal), confirmed: confirmation?.how ?? null };
  }

  async #confirmation(
    { node, method, path, body, nonce, jti }: CallStatement,
    jws: string,
    call: string,
  ): Promise<{ readonly how: Confirm['how']; readonly operator: string }> {
    const operators = await this.#operators;
    const { payload, kid } = await verifyStatement(
      'svc-confirm',
      jws,
      (id) => operators.get(id)?.key ?? null,
    );
    const same =
      payload.node === node &&
      payload.method === method &&
      payload.path === path &&
      payload.body_sha256 === bodySha256(body) &&
      payload.nonce === nonce &&
      payload.jti === jti;
    if (!same) throw new NotBelieved('it is for another call');
    this.#spend(`${kid} ${jti}`, call);
    return { how: payload.how, operator: operators.get(kid)?.name ?? '' };
  }

  /**
   * A person has confirmed one call, of one caller: whoever else repeats it word by word, with a token of their own, does not have it
   * run once more. @throws NotBelieved
   */
  #spend(confirm: string, call: string): void {
    const now = this.#options.now();
    for (const [key, { at }] of this.#spent) {
      if (now - at < SPENT_MS) break;
      this.#spent.delete(key);
    }
    const before = this.#spent.get(confirm);
    if (before !== undefined && before.call !== call)
      throw new NotBelieved('it was used for the call of another caller');
    if (before !== undefined) return; // the same call, which runs once
    if (this.#spent.size >= MAX_SPENT) throw new NotBelieved('too many in a minute');
    this.#spent.set(confirm, { call, at: now });
  }
}

/** Standing by is enough for a flight; what destroys is asked about each time. */
function confirms(how: Confirm['how'] | undefined, scope: Scope): boolean {
  return how === 'confirm' || (how === 'hold' && scope === 'flight');
}

function unfresh(age: 'old' | 'other', nonce: string): FleetCredential {
  return age === 'old'
    ? refused(
        'E_STALE',
        'The call came too late, or its nonce is old. Nothing was done; repeat it with this one.',
        {
          nonce,
        },
      )
    : refused('E_OUTCOME_UNKNOWN', 'The node restarted since this nonce; the call’s outcome is unknown.', {
        nonce,
      });
}

function refused(
  code: Extract<FleetCredential, { kind: 'refused' }>['code'],
  detail: string,
  extras: JsonObject = {},
): FleetCredential {
  return { kind: 'refused', code, detail, extras };
}

async function operatorKeys(
  lines: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly key: PublicJwk }>> {
  const entries = lines.map(async (line) => {
    const [name = '', x = ''] = line.split(' ');
    const key: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x };
    return [await thumbprint(key), { name, key }] as const;
  });
  return new Map(await Promise.all(entries));
}

/** What a call says that may be anybody's, so that its sender gets an answer; null if it does not even say which call it is. */
function unverified(jws: string): CallStatement | null {
  try {
    const value = parseJson(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const { method, path, node, nonce, within_ms = 0, jti } = recordOf(value);
    if (
      method !== 'GET' &&
      method !== 'POST' &&
      method !== 'PUT' &&
      method !== 'PATCH' &&
      method !== 'DELETE'
    )
      return null;
    if (typeof path !== 'string' || !/^\/[\x21-\x7e]{0,2047}$/.test(path)) return null;
    if (typeof node !== 'string' || typeof nonce !== 'string' || typeof within_ms !== 'number') return null;
    if (typeof jti !== 'string' || !/^[A-Za-z0-9_-]{16,64}$/.test(jti)) return null;
    return { method, path, node, nonce, within_ms, jti };
  } catch {
    return null; // no JSON
  }
}
