import { Ajv2020, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from './json-schema.ts';

export interface Violation {
  /** JSON Pointer into the value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Returns null for a value that fits, otherwise every violation. */
export type Validator = (value: unknown) => readonly Violation[] | null;

const MAX_VIOLATIONS = 50;

/**
 * An Ajv for JSON Schema 2020-12 that knows our keywords (shared/schemas/config.ts).
 * The schemas are ours and tests hold them against the meta-schema; at run time that check would cost each process 40 ms of
 * its start, so `checkSchemas` is off.
 */
export function createAjv(
  options: { readonly useDefaults?: boolean; readonly checkSchemas?: boolean } = {},
): Ajv2020 {
  const check = options.checkSchemas ?? false;
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    useDefaults: options.useDefaults ?? false,
    meta: check,
    validateSchema: check,
  });
  for (const keyword of ['x-secret', 'x-root-only', 'x-profile'])
    ajv.addKeyword({ keyword, schemaType: 'boolean' });
  ajv.addKeyword({ keyword: 'x-restart', schemaType: 'array' });
  return ajv;
}

export function compileValidator(ajv: Ajv2020, schema: JsonSchema): Validator {
  const validate: ValidateFunction = ajv.compile(schema as AnySchema);
  return (value) => (validate(value) ? null : violationsOf(validate.errors ?? []));
}

function violationsOf(errors: readonly ErrorObject[]): readonly Violation[] {
  return errors.slice(0, MAX_VIOLATIONS).map(({ instancePath, message, params, keyword }) => ({
    path: instancePath,
    message: `${message ?? keyword}${hint(keyword, params)}`,
  }));
}

function hint(keyword: string, params: Readonly<Record<string, unknown>>): string {
  if (keyword === 'additionalProperties') return `: ${String(params['additionalProperty'])}`;
  if (keyword === 'enum' && Array.isArray(params['allowedValues']))
    return `: ${params['allowedValues'].join(', ')}`;
  if (keyword === 'const') return `: ${JSON.stringify(params['allowedValue'])}`;
  return '';
}
