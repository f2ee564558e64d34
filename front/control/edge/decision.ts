/** What the edge is asked, and what it answers. */
import type { AddressClass } from '../../../shared/auth/address.ts';
import { ANONYMOUS, type Principal } from '../../../shared/auth/principal.ts';
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import type { JsonObject } from '../../../shared/member.ts';
import type { Feature, Profile } from '../../../shared/profile.ts';
import type { Matcher } from '../../../shared/routes/match.ts';
import type { Refusals, Row } from '../../../shared/routes/row.ts';
import type { Confirm } from '../../../shared/schemas/fleet-statements.ts';
import type { Violation } from '../../../shared/schemas/validator.ts';

export interface Peer {
  /** `unix`: control.sock, whose file mode is the credential. `relay`: the bound ground station, through the radio's tunnel. `fleet`: a signed call. */
  readonly kind: 'tcp' | 'unix' | 'relay' | 'fleet';
  /** The id of the ground station, proved by its key, where the kind is `relay`. */
  readonly ground?: string;
  /** What the signed call proves, where the kind is `fleet`. */
  readonly fleet?: FleetCredential;
  readonly address: AddressClass;
  /** The connection is by TLS. */
  readonly secure: boolean;
  /** A reverse proxy of `api.trusted_proxies`. */
  readonly proxy?: boolean;
  /** Seconds until this peer may ask again, null while it may. */
  readonly limitedFor: number | null;
  /** Seconds until this peer's credentials are checked again, null while it is not locked. */
  readonly lockedFor: number | null;
  /** Whether a loopback peer's process runs as a user that this node trusts. Called only if the answer matters. */
  readonly trusted: () => boolean;
}

export interface RequestHead {
  readonly method: string;
  /** The request target as it came. */
  readonly target: string;
  /** Name, value, name, value … as it came. */
  readonly rawHeaders: readonly string[];
  readonly upgrade: boolean;
  readonly peer: Peer;
}

/**
 * Credentials beyond the pairing key. Each is checked only if no stronger one was valid. The token is last, so that its store
 * is read only for a request that would otherwise be refused (docs/contract/edge.md#credential).
 */
export interface CredentialChecks {
  session(value: string): Principal | null;
  ticket(value: string, scope: string): Principal | null;
  /** @param path what the ticket must be for; see `readTicketPath` */
  readTicket(value: string, path: string): Principal | null;
  token(value: string): Principal | null;
}

/** What a signed call proves; `decide` judges it as any other credential. */
export type FleetCredential =
  | { readonly kind: 'valid'; readonly principal: Principal; readonly confirmed: Confirm['how'] | null }
  | {
      readonly kind: 'refused';
      readonly code: Extract<ErrorCode, 'E_UNAUTHENTICATED' | 'E_STALE' | 'E_OUTCOME_UNKNOWN' | 'E_CONFIRM'>;
      readonly detail: string;
      readonly extras: JsonObject;
    };

/** Used where no such credential exists: none is valid. */
export const NO_OTHER_CREDENTIALS: CredentialChecks = {
  session: () => null,
  ticket: () => null,
  readTicket: () => null,
  token: () => null,
};

/** The state of the node at this moment. */
export interface EdgeState {
  readonly matcher: Matcher;
  /** `keyHash` null while paired: the pairing file is broken, and no key is valid. */
  readonly pairing: { readonly paired: boolean; readonly keyHash: Buffer | null };
  /** The armed guard's state, of the chosen vehicle. */
  readonly armed: Armed;
  /** The worst of all vehicles on the link: for a guarded row that may cut the link. */
  readonly anyArmed: Armed;
  readonly profile: Profile;
  readonly features: ReadonlySet<Feature>;
  /** Whether the residual is part of this build. */
  readonly residual: boolean;
  readonly origins: ReadonlySet<string>;
  /** The names and addresses of this node, each in one spelling. */
  readonly hosts: Pick<ReadonlySet<string>, 'has'>;
  readonly credentials: CredentialChecks;
  /** Violations of the row's body and query schemas, null if both are valid. */
  readonly validate: (row: Row, body: unknown, query: string) => readonly Violation[] | null;
  /** The rule of one pilot in command; null where this node has none. */
  readonly pilot: PilotRule | null;
  /** The TCP port of the API. */
  readonly port: number;
  readonly tls: {
    /** Whether callers from other machines have to use it. */
    readonly required: boolean;
    /** Null while HTTPS is not served. */
    readonly port: number | null;
  };
}

export interface PilotRule {
  /** The client that is pilot in command if it is another one than the caller, else null. */
  otherThan(clientId: string | null): string | null;
}

/** The step that gave the answer; `svc explain` prints it. */
export type Rule =
  | 'target'
  | 'cors'
  | 'relay'
  | 'fleet'
  | 'tls'
  | 'unpaired'
  | 'public'
  | 'rate'
  | 'credential'
  | 'row'
  | 'scope'
  | 'feature'
  | 'pilot'
  | 'armed'
  | 'body';

export interface Refusal {
  readonly kind: 'refuse';
  readonly rule: Rule;
  readonly row: Row | null;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** The origin to name in Access-Control-Allow-Origin, null for none. */
  readonly cors: string | null;
  /** The request had credentials and none was valid; counts towards the lock of its peer. */
  readonly failedCredential: boolean;
  readonly principal: Principal;
  /** The shape of the answer: the row's, or without one that of the path. */
  readonly refusals: Refusals;
  /** Counts against the peer's request budget, like a request that passes. */
  readonly counted: boolean;
}

export interface Pass {
  readonly kind: 'pass';
  readonly rule: Rule;
  readonly row: Row;
  /** The row whose policy applies: `row` itself, or the inner row of a request through the relay proxy. */
  readonly policy: Row;
  readonly params: Readonly<Record<string, string>>;
  /** The path parameters of `policy`. */
  readonly policyParams: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: string;
  /** The request target without the read tickets that came in it; null if there were none, so it is as it came. */
  readonly target: string | null;
  readonly principal: Principal;
  /** What the client calls itself. */
  readonly clientId: string | null;
  readonly cors: string | null;
  /** Whether the armed guard is overridden; known after the body was read. */
  readonly forced: boolean;
  /** Counts against the peer's request budget. */
  readonly counted: boolean;
}

export interface Preflight {
  readonly kind: 'preflight';
  readonly rule: 'cors';
  readonly headers: Readonly<Record<string, string>>;
}

/** To another place, without an answer of a row. */
export interface Redirect {
  readonly kind: 'redirect';
  /**
   * `unpaired`, 302: a stranger's first request on a network that the node itself provides, to the page of the set-up. `tls`, 308:
   * to the same page by HTTPS.
   */
  readonly rule: 'unpaired' | 'tls';
  readonly status: 302 | 308;
  readonly location: string;
}

export type Decision = Pass | Refusal | Preflight | Redirect;

export const NO_EXTRAS = Object.freeze({});

export function refuse(
  rule: Rule,
  code: ErrorCode,
  cors: string | null,
  more: Partial<
    Pick<Refusal, 'row' | 'detail' | 'extras' | 'headers' | 'failedCredential' | 'principal'>
  > = {},
): Refusal {
  return Object.freeze({
    kind: 'refuse',
    rule,
    row: more.row ?? null,
    code,
    detail: more.detail ?? ERRORS[code][1],
    extras: more.extras ?? NO_EXTRAS,
    headers: more.headers ?? NO_EXTRAS,
    cors,
    failedCredential: more.failedCredential ?? false,
    counted: rule !== 'rate',
    principal: more.principal ?? ANONYMOUS,
    refusals: more.row?.refusals ?? 'plain',
  });
}
