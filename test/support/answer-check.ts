import { expect } from 'chai';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { type Validator, validatorOf } from '../../shared/schemas/validator.ts';

const { matcher } = compileTable(ROWS);
/** By row and status. */
const validators = new Map<string, Validator | null>();

function validatorFor(method: string, target: string, status: number): Validator | null {
  const match = matcher.match(target);
  if (match.kind !== 'found' || (status !== 200 && status !== 202)) return null;
  const row = [...match.template.rows.values()].find((each) => each.method === method);
  if (row === undefined) return null;
  const key = `${row.id} ${status}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  const schema = row.responses[status]?.schema ?? null;
  const made = schema === null ? null : validatorOf(schema);
  validators.set(key, made);
  return made;
}

/** Whatever else a test looks at: an answer is what its row's schema, and so the OpenAPI document, promises. */
export function checkAnswer(method: string, target: string, status: number, body: unknown): void {
  const violations = validatorFor(method, target, status)?.(body) ?? null;
  expect(violations, `${method} ${target}: its answer does not fit its schema`).to.equal(null);
}
