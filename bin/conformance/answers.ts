import { ERRORS, errorWord, isErrorCode } from '../../shared/errors.ts';
import { memberOf, parseJson } from '../../shared/member.ts';
import { faultOf } from '../../shared/schemas/fault.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { type Validator, validatorOf } from '../../shared/schemas/validator.ts';
import { Failed } from './report.ts';
import type { Answer } from './target.ts';

/** What holds for every answer of a node (docs/contract/node.md#errors). */

/** Headers that would tell a stranger what runs here. */
const CHATTY = ['x-powered-by', 'server'] as const;

const compiled = new Map<JsonSchema, Validator>();

/** @throws Failed */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Failed(otherwise);
}

export function mediaTypeOf({ headers }: Answer): string {
  return (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
}

/** @throws Failed */
export function jsonOf(answer: Answer): unknown {
  must(
    mediaTypeOf(answer) === 'application/json',
    `The answer is ${mediaTypeOf(answer) || 'of no type'}, not JSON.`,
  );
  try {
    return parseJson(answer.bytes.toString());
  } catch {
    throw new Failed('The answer says it is JSON, and is not.');
  }
}

/** @throws Failed with the first violations */
export function mustFit(value: unknown, schema: JsonSchema): void {
  const validate = compiled.get(schema) ?? validatorOf(schema);
  compiled.set(schema, validate);
  const wrong = validate(value);
  if (wrong === null) return;
  const told = wrong.slice(0, 3).map((violation) => faultOf(violation, 'the body'));
  throw new Failed(`The body does not fit its schema: ${told.join('; ')}.`);
}

/** The headers that every answer has, and those that none has. @throws Failed */
export function mustBeSafe({ headers, status }: Answer): void {
  must(headers['x-content-type-options'] === 'nosniff', 'It lacks x-content-type-options: nosniff.');
  must(headers['cache-control'] !== undefined, 'It does not say how it may be cached.');
  must(
    headers['access-control-allow-origin'] !== '*',
    'It is open to every web page: access-control-allow-origin: *.',
  );
  for (const name of CHATTY) must(headers[name] === undefined, `It says ${name}: ${String(headers[name])}.`);
  must(status >= 100 && status < 600, `Its status is ${status}.`);
}

/**
 * One of these errors, in the one shape that errors have.
 * @param wanted codes; any if it is empty
 * @throws Failed
 */
export function mustRefuse(answer: Answer, ...wanted: readonly string[]): void {
  const { status } = answer;
  must(status >= 400, `It answered ${status} instead of ${wanted.join(' or ') || 'an error'}.`);
  const body = jsonOf(answer);
  const code = typeof body === 'object' ? errorWord({ ...body }) : null;
  must(
    typeof memberOf(body, 'detail') === 'string' && isErrorCode(code),
    `An error (${status}) is neither {detail, code} nor {ok, code, kind, detail, error}.`,
  );
  must(ERRORS[code][0] === status, `${code} came with status ${status}.`);
  must(
    wanted.length === 0 || wanted.includes(code),
    `It answered ${status} ${code} instead of ${wanted.join(' or ')}.`,
  );
  mustBeSafe(answer);
}
