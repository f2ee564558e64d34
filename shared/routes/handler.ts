import type { FromSchema } from 'json-schema-to-ts';
import type { Principal } from '../auth/principal.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Row } from './row.ts';

/** What code behind a row gets and gives; typed from the row, so that table and code cannot drift apart. */

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `*${infer Plain}` ? Plain : Name) | PathParams<Rest>
  : never;

type BodyOf<R extends Row> = R['body'] extends JsonSchema ? FromSchema<R['body']> : unknown;

export interface Call<R extends Row> {
  readonly params: Readonly<Record<PathParams<R['path']>, string>>;
  /** The query as it came, without the question mark; most routes have none to parse. */
  readonly query: string;
  /** Validated against the row's schema. */
  readonly body: BodyOf<R>;
  readonly principal: Principal;
  /** The armed guard was overridden. */
  readonly forced: boolean;
}

/** An answer that is not plain `200` with JSON. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly mediaType: string;

  /** @param body sent as JSON, unless it is a string or a Buffer with its own media type */
  constructor(status: number, body: unknown, mediaType = 'application/json') {
    this.status = status;
    this.body = body;
    this.mediaType = mediaType;
  }
}

/** Returns the JSON answer or a Reply, or throws ApiError. */
export type Handler<R extends Row> = (call: Call<R>) => unknown;

/** Exactly one handler for each row of `Rows` that is built in `Lane`: a missing or an extra one does not compile. */
export type HandlersOf<Rows extends readonly Row[], Lane extends Row['lane']> = {
  readonly [R in Extract<Rows[number], { readonly lane: Lane; readonly built: true }> as R['id']]: Handler<R>;
};
