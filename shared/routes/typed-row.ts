import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { ReadonlyDeep } from '../schemas/readonly-deep.ts';
import type { AnyRow } from './table.ts';
import type { PathParams, Query } from './target.ts';

/**
 * What a row takes and gives, from the schemas that the node's own documentation is made of, for everybody who asks a node. Types
 * only: the page has a slim table of its own, and the CLI starts faster without one, since a route is the name of its row too.
 */

/** A row's id, or its route. */
type Rows = { readonly [R in AnyRow as R['id'] | RouteOf<R>]: R };
type RouteOf<R extends AnyRow> = R extends AnyRow ? `${R['method']} ${R['path']}` : never;

/** Method and path of a row, as in `GET /api/params/{name}`. */
export type Route = RouteOf<AnyRow>;

/** A row that is not built yet has any schema. */
type Typed<S> = S extends JsonSchema ? (JsonSchema extends S ? unknown : FromSchema<S>) : unknown;

type Member<T, K> = K extends keyof T ? T[K] : never;

/** The answer of a row, named by its id or its route; of work that is only accepted, what is said at once. */
export type Answer<K extends keyof Rows> = Typed<Member<Member<Rows[K]['responses'], 200 | 202>, 'schema'>>;

/** The JSON body of a row. */
export type Body<K extends keyof Rows> = Typed<Rows[K]['body']>;

/** The members that a query may have. The armed guard of a row without a JSON body is overridden by `force=1`. */
type QueryOf<S> = 'force' | (S extends { readonly properties: infer P } ? Extract<keyof P, string> : never);

/** As one writes it: a member without a value is not sent. With a JSON body `"force": true` overrides the armed guard. */
type ReadonlyBody<T> = T extends readonly (infer E)[]
  ? readonly ReadonlyBody<E>[]
  : T extends object
    ? {
        readonly [K in keyof T]: object extends Pick<T, K>
          ? ReadonlyBody<T[K]> | undefined
          : ReadonlyBody<T[K]>;
      }
    : T;

/** What a request of a row says besides its route. */
export type RequestOf<K extends keyof Rows> = ([PathParams<Rows[K]['path']>] extends [never]
  ? unknown
  : { readonly params: { readonly [N in PathParams<Rows[K]['path']>]: string } }) & {
  readonly query?: { readonly [N in QueryOf<Rows[K]['query']>]?: Query[string] };
  readonly body?: ReadonlyBody<Body<K>> & { readonly force?: boolean | undefined };
};

/** Of a row that is built. */
export type RowId = AnyRow['id'];

/** The answer of a row as whoever makes it returns it. */
export type MadeAnswer<K extends keyof Rows> = ReadonlyDeep<Answer<K>>;
