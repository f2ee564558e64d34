import rows from 'virtual:rows';
import type { FromSchema } from 'json-schema-to-ts';
import type { Row } from '../../../../shared/routes/row.ts';
import type { AnyRow, RowId } from '../../../../shared/routes/table.ts';
import type { JsonSchema } from '../../../../shared/schemas/json-schema.ts';

/** The route table as far as the page needs it: what it may ask, and what goes in and comes out. */

export type SlimRow = Pick<
  Row,
  | 'method'
  | 'path'
  | 'access'
  | 'scope'
  | 'relay'
  | 'profiles'
  | 'feature'
  | 'built'
  | 'long'
  | 'ticket'
  | 'armed'
  | 'names'
> & { readonly timeoutMs: number };

export const ROW = rows as Readonly<Record<RowId, SlimRow>>;

type RowMap = { readonly [R in AnyRow as R['id']]: R };

type AnswerOf<R> = R extends {
  readonly responses: { readonly 200: { readonly schema: infer S extends JsonSchema } };
}
  ? Typed<S>
  : unknown;

type BodyOf<R> = R extends { readonly body: infer S extends JsonSchema } ? Typed<S> : unknown;

/** A row that is not built yet has any schema. */
type Typed<S extends JsonSchema> = JsonSchema extends S ? unknown : FromSchema<S>;

/** The answer of a row, from the schema that the node's own documentation is made of. */
export type Answer<Id extends RowId> = AnswerOf<RowMap[Id]>;

/** The JSON body of a row. */
export type Body<Id extends RowId> = BodyOf<RowMap[Id]>;
