import type { JsonSchema } from '../schemas/json-schema.ts';
import type { BodyKind, Limits, PathParam, Row, RowMethod } from './row.ts';
import { LATER, LIMITS, PARAM } from './row-parts.ts';

/** The common properties of all rows of a domain. */
interface DomainDefaults extends Pick<Row, 'lane' | 'feature' | 'profiles'>, Partial<Pick<Row, 'refusals'>> {
  /** The path parameters of this domain, in addition to `COMMON_PARAMS`. */
  readonly params?: Readonly<Record<string, PathParam>>;
}

/** Method and path, as in `GET /api/params/{name}`. */
type Route = `${RowMethod} /${string}`;
type MethodOf<R extends Route> = R extends `${infer M extends RowMethod} ${string}` ? M : never;
type PathOf<R extends Route> = R extends `${RowMethod} ${infer P}` ? P : never;

/** The policy: access, scope, relay rule, armed guard. */
type Policy = `${Row['access']} ${Row['scope']} ${Row['relay']} ${Row['armed']}`;
/** A write also names the worst that it can do. */
type PolicyOf<R extends Route> = MethodOf<R> extends 'GET' | 'WS' ? Policy : `${Policy} ${Row['blast']}`;

/** The special properties of a row; `row` gives the defaults. */
type Special = Partial<
  Omit<Row, 'id' | 'method' | 'path' | 'access' | 'scope' | 'relay' | 'armed' | 'summary' | 'built'>
>;

type BodyKindOf<S extends Special> = S extends { readonly bodyKind: infer K extends BodyKind }
  ? K
  : S extends { readonly body: JsonSchema }
    ? 'json'
    : 'none';

type TypedRow<D extends DomainDefaults, Id extends string, R extends Route, S extends Special, Built> = Omit<
  Row,
  'id' | 'method' | 'path' | 'lane' | 'query' | 'bodyKind' | 'body' | 'responses' | 'built'
> & {
  readonly id: Id;
  readonly method: MethodOf<R>;
  readonly path: PathOf<R>;
  readonly lane: S extends { readonly lane: infer L extends Row['lane'] } ? L : D['lane'];
  readonly query: S extends { readonly query: infer Q extends JsonSchema } ? Q : null;
  readonly bodyKind: BodyKindOf<S>;
  readonly body: S extends { readonly body: infer B extends JsonSchema } ? B : null;
  readonly responses: S extends { readonly responses: infer A extends Row['responses'] }
    ? A
    : Row['responses'];
  readonly built: Built;
};

const COMMON_PARAMS: Readonly<Record<string, PathParam>> = { id: PARAM.id, path: PARAM.rest };

/**
 * How the rows of one domain are written: the policy on the first line, then the special properties. By default a row takes no
 * body (or a small JSON body if it has a schema), has ten seconds, answers JSON, and changes nothing if it is a GET. @returns
 * `row`; and `later` for a row that is not implemented yet: the edge answers 501
 */
export function domain<const D extends DomainDefaults>(defaults: D) {
  const make = (id: string, route: string, policy: string, summary: string, special: Special): Row => {
    const [method, path] = route.split(' ') as [RowMethod, string];
    const [access, scope, relay, armed, blast] = policy.split(' ') as [
      Row['access'],
      Row['scope'],
      Row['relay'],
      Row['armed'],
      Row['blast'] | undefined,
    ];
    const { params, ...common } = defaults;
    const bodyKind: BodyKind = special.bodyKind ?? (special.body === undefined ? 'none' : 'json');
    const known = { ...COMMON_PARAMS, ...params };
    const names = [...path.matchAll(/\{\*?([a-z_]+)\}/g)].map(([, name]) => name ?? '');
    return {
      onBox: false,
      nearOnly: false,
      tlsOnly: false,
      orKey: false,
      bearer: false,
      ticket: null,
      readTicket: null,
      names: [],
      query: null,
      body: null,
      bodyMedia: null,
      streamed: null,
      responses: LATER,
      fails: [],
      long: false,
      refusals: 'plain',
      blast: blast ?? 'none',
      limits: limitsOf(method),
      params: Object.fromEntries(
        names.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])),
      ),
      ...common,
      ...special,
      bodyKind,
      id,
      method,
      path,
      access,
      scope,
      relay,
      armed,
      summary,
      built: true,
    };
  };
  /** TypeScript cannot follow the literal types of the arguments into the row that is made of them. */
  const typed = <Id extends string, R extends Route, S extends Special, Built>(
    row: Row,
  ): TypedRow<D, Id, R, S, Built> => row as unknown as TypedRow<D, Id, R, S, Built>;
  return {
    row: <const Id extends string, const R extends Route, const S extends Special>(
      id: Id,
      route: R,
      policy: PolicyOf<R>,
      summary: string,
      special: S,
    ) => typed<Id, R, S, true>(make(id, route, policy, summary, special)),

    later: <const Id extends string, const R extends Route, const S extends Special = Special>(
      id: Id,
      route: R,
      policy: PolicyOf<R>,
      summary: string,
      special?: S,
    ) => typed<Id, R, S, false>({ ...make(id, route, policy, summary, special ?? {}), built: false }),
  };
}

function limitsOf(method: RowMethod): Limits {
  if (method === 'GET') return LIMITS.read;
  return method === 'WS' ? LIMITS.stream : LIMITS.json;
}
