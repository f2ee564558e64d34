import { bodySchema } from '../../../shared/routes/body-schema.ts';
import { parseQuery, querySchemaOf } from '../../../shared/routes/query.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { type Validator, type Violation, validatorOf } from '../../../shared/schemas/validator.ts';
import type { EdgeState } from './decision.ts';

const TWICE: readonly Violation[] = [{ path: '', message: 'the query names a member twice' }];

/** Validates body and query with the schemas of their row. */
export function rowValidator(rows: readonly Row[]): EdgeState['validate'] {
  const bodies = new Map<string, Validator>();
  const queries = new Map<string, Validator>();
  for (const row of rows) {
    const schema = row.built ? bodySchema(row) : null;
    if (schema !== null) bodies.set(row.id, validatorOf(schema));
    const query = querySchemaOf(row);
    if (row.built && query !== null) queries.set(row.id, validatorOf(query, { coerce: true }));
  }
  return ({ id }, body, query) => {
    // A missing body is validated as an empty one, so that the schema names the missing members.
    const wrong = bodies.get(id)?.(body === undefined ? {} : body) ?? null;
    const validate = queries.get(id);
    if (wrong !== null || validate === undefined) return wrong;
    const members = parseQuery(query);
    return members === null ? TWICE : validate(members);
  };
}
