import type { Scope } from '../auth/scopes.ts';
import type { ErrorCode } from '../errors.ts';
import type { Feature } from '../profile.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Naming } from './classes.ts';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type RowMethod = HttpMethod | 'WS' | 'ANY';
export type Guard = '-' | 'guard' | 'guard-if-link' | 'guard-if-profile' | 'inner';

/** The form of a path parameter's value. */
export interface PathParam {
  /** Regular expression over the decoded value, without anchors; must be linear. */
  readonly pattern: string;
  /**
   * Of a rest that somebody else reads, an extension or another node: the value stays as it was sent, percent-encoded, and
   * `pattern` is over that. What could change the path is refused all the same (docs/contract/edge.md#target).
   */
  readonly raw?: true;
  readonly description: string;
  readonly example: string;
}

export interface Limits {
  /** Largest request body, bytes; 0 if the route takes none. */
  readonly bodyBytes: number;
  /** From the head of the request to the last byte of its body. */
  readonly bodyMs: number;
  /** From the complete request to the first byte of the answer. */
  readonly timeoutMs: number;
}

/** The shape of a row's refusals: `{detail, code: "E_…"}`, or the envelope of the lifecycle of extensions (docs/contract/node.md#errors). */
export type Refusals = 'plain' | 'lifecycle';

/** `json`: parsed and validated at the edge. `raw`: small, passed on as bytes (SDP). `stream`: never kept in memory. */
export type BodyKind = 'none' | 'json' | 'raw' | 'stream';

export interface ResponseSpec {
  readonly description: string;
  /** One, or several separated by commas. */
  readonly mediaType: string;
  readonly schema: JsonSchema | null;
}

/**
 * One route: everything the node knows about it. From the rows come matching, authentication, scopes, the relay rule, the
 * armed guard, feature flags, limits, validation, proxying, OpenAPI, the CLI's `explain`, and the test matrix.
 * Every field is mandatory so that forgetting one does not compile.
 */
export interface Row {
  readonly id: string;
  readonly method: RowMethod;
  readonly path: string;
  readonly lane: 'front' | 'residual';
  readonly feature: Feature;
  readonly profiles: 'D' | 'G' | 'DG';
  /** Who may ask; the words are in docs/routes.md. */
  readonly access: 'public' | 'key' | 'keyonly' | 'ws';
  /** The class that a token needs; `none`: tokens are refused; `inner`: the class of the inner route. */
  readonly scope: Scope | 'none' | 'inner';
  readonly relay: 'ok' | 'forbid';
  readonly armed: Guard;
  /** A trusted process on this machine needs no key (docs/contract/edge.md#credential). */
  readonly onBox: boolean;
  /** Public rows that nevertheless refuse callers from outside the operator's networks (docs/contract/edge.md#public-rows). */
  readonly nearOnly: boolean;
  /** Only by TLS, or from this machine: a secret goes through it that must not be read on the way (docs/contract/edge.md#tls). */
  readonly tlsOnly: boolean;
  /** A public row that takes the pairing key instead of its body: a request that shows one is judged as on a `keyonly` row. */
  readonly orKey: boolean;
  /** Players know one header: key or token may come as `Authorization: Bearer` too (docs/contract/credentials.md). */
  readonly bearer: boolean;
  /** Scope of the WebSocket ticket; `{x}` stands for the path parameter. */
  readonly ticket: string | null;
  /**
   * Where a browser that cannot send a header may show a read ticket: as `?ticket=`, or as `~<ticket>`, the first segment of the
   * path's last parameter, so that relative links keep it (docs/contract/credentials.md#read-tickets). Null: nowhere.
   */
  readonly readTicket: 'query' | 'segment' | null;
  /** The items that a request of this row names, each with a class of its own that may raise the row's. */
  readonly names: readonly Naming[];
  readonly limits: Limits;
  readonly params: Readonly<Record<string, PathParam>>;
  readonly query: JsonSchema | null;
  readonly bodyKind: BodyKind;
  /**
   * What a raw body is; another Content-Type is 415. For `json`: a type that is taken too, as one text (limit: the row's).
   * Null for the other kinds.
   */
  readonly bodyMedia: string | null;
  readonly body: JsonSchema | null;
  /**
   * What a body may be that no schema checks, by media type, for those who read OpenAPI: of a `stream` what its handler reads. Null
   * where `body` or `bodyMedia` says it.
   */
  readonly streamed: Readonly<Record<string, JsonSchema>> | null;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Work that may take long: with `Accept: text/event-stream` it sends `progress` events and then `result`. */
  readonly long: boolean;
  /** Error codes of its handler, besides those of the edge, the proxy and the row itself. */
  readonly fails: readonly ErrorCode[];
  /** The shape of every refusal, those of the edge too. */
  readonly refusals: Refusals;
  readonly summary: string;
  /** What a mistake can damage at worst: nothing (then the audit has its refusals only), the node's settings, its links, the aircraft. */
  readonly blast: 'none' | 'config' | 'link' | 'aircraft';
  /** False: not implemented in this build, the edge answers 501. */
  readonly built: boolean;
}
