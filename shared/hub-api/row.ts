import type { FromSchema } from 'json-schema-to-ts';
import type { Rate } from '../async/token-bucket.ts';
import type { ErrorCode } from '../errors.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Caller } from './caller.ts';

/**
 * Who may ask: anyone; an operator; a machine credential; either of both. What they may see and change is further limited to
 * their own nodes.
 */
export type Access = 'public' | 'operator' | 'machine' | 'credential';

/** Requests of one address or of one credential. */
export const RATES = {
  read: { perSecond: 50, burst: 200 },
  write: { perSecond: 20, burst: 200 },
  /** Signs or makes certificates. */
  costly: { perSecond: 20, burst: 200 },
  /** Files of the page: apart from what it asks for. */
  page: { perSecond: 50, burst: 200 },
  /** What a balancer asks: strangers who share an address with it must not take the hub out. Its answer is kept for a moment. */
  health: null,
} as const satisfies Record<string, Rate | null>;

/** One route of the hub: everything that is decided about it. Every field is mandatory, see shared/routes/row.ts. */
export interface HubRow {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` is the only parameter: of a node, a credential, an operator. */
  readonly path: string;
  readonly access: Access;
  /** What the credential must have; null only for `public` and for what says who one is. */
  readonly scope: 'read' | 'admin' | null;
  /** Refused to those who have only some of the nodes. */
  readonly wholeFleet: boolean;
  /** Recorded before it runs and after; refusals are recorded always. */
  readonly audited: boolean;
  readonly rate: keyof typeof RATES;
  readonly query: JsonSchema | null;
  readonly body: JsonSchema | null;
  readonly status: 200 | 201;
  readonly mediaType: string;
  /** Of the answer; null where it is no JSON. */
  readonly answer: JsonSchema | null;
  readonly fails: readonly ErrorCode[];
  readonly summary: string;
}

/** Who waits for an answer. */
export interface Asker {
  /** When the head of the request came, monotonic ms. */
  readonly since: number;
  /** Their connection has ended, as far as this process has heard. */
  readonly isGone: () => boolean;
}

export interface HubCall<R extends HubRow> {
  /** The path's `{id}`, empty where it has none. */
  readonly id: string;
  readonly query: R['query'] extends JsonSchema ? FromSchema<R['query']> : unknown;
  readonly body: R['body'] extends JsonSchema ? FromSchema<R['body']> : unknown;
  readonly caller: R['access'] extends 'public' ? null : Caller;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly peer: string;
  readonly asker: Asker;
  /** Names what the call changed, for the audit; never a secret. */
  readonly changed: (what: string) => void;
}

/** What a handler answers: sent as JSON, or a `Reply` of shared/routes/handler.ts. */
export type HubHandler<R extends HubRow> = (call: HubCall<R>) => unknown;

export type HubHandlers<Rows extends readonly HubRow[]> = {
  readonly [R in Rows[number] as R['id']]: HubHandler<R>;
};
