import { createRequire } from 'node:module';
import type { Ajv2020, AnySchema, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { type JsonObject, memberOf, recordOf } from '../member.ts';
import { FORMATS } from './addresses.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Described } from './made.ts';
import { wordsOf, worthSaying } from './violation-words.ts';

export interface Violation {
  /** JSON Pointer to what is wrong; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Returns null for a valid value, otherwise every violation. `T` is the type that the schema describes. */
export interface Validator<T = unknown> {
  (value: unknown): readonly Violation[] | null;
  /** Whether the value is valid, so that what was checked needs no cast. */
  fits: (value: unknown) => value is T;
}

const MAX_VIOLATIONS = 50;
const require = createRequire(import.meta.url);

interface ValidatorOptions {
  readonly useDefaults?: boolean;
  /** For a query: texts are converted to the type in the schema. */
  readonly coerce?: boolean;
}

/**
 * An Ajv for JSON Schema 2020-12 that knows our keywords (shared/config/leaf.ts) and formats (shared/schemas/addresses.ts).
 * Tests check our schemas against the meta-schema; at run time this would cost each process 40 ms at its start, so
 * `checkSchemas` is off.
 */
export function createAjv(options: ValidatorOptions & { readonly checkSchemas?: boolean } = {}): Ajv2020 {
  const check = options.checkSchemas ?? false;
  // Loaded when it is first needed: 15 MiB and 50 ms, which a connector that is only asked for its tools does without.
  const { Ajv2020: Ajv }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const addFormats: typeof import('ajv-formats') = require('ajv-formats');
  const ajv = new Ajv({
    allErrors: true,
    verbose: true, // for wordsOf
    strict: true,
    allowUnionTypes: true,
    useDefaults: options.useDefaults ?? false,
    coerceTypes: options.coerce ?? false,
    meta: check,
    validateSchema: check,
  });
  for (const keyword of ['x-secret', 'x-profile', 'x-ordered'])
    ajv.addKeyword({ keyword, schemaType: 'boolean' });
  for (const keyword of ['x-restart', 'x-sends', 'x-words', 'x-topics'])
    ajv.addKeyword({ keyword, schemaType: 'array' });
  for (const keyword of ['x-class', 'x-reason', 'x-armed', 'x-says', 'x-topic', 'x-unit'])
    ajv.addKeyword({ keyword, schemaType: 'string' });
  // JSON Schema compares whole entries only.
  ajv.addKeyword({
    keyword: 'x-unique',
    type: 'array',
    schemaType: 'string',
    validate: (member: string, entries: readonly unknown[]) =>
      new Set(entries.map((entry) => memberOf(entry, member))).size === entries.length,
  });
  addFormats.default(ajv, ['date-time', 'date']);
  for (const [name, { fits }] of Object.entries(FORMATS)) ajv.addFormat(name, fits);
  return ajv;
}

export function compileValidator(ajv: Ajv2020, schema: JsonSchema): Validator {
  const validate: ValidateFunction = ajv.compile(schema as AnySchema);
  const violations = (value: unknown): readonly Violation[] | null =>
    validate(value) ? null : violationsOf(validate.errors ?? []);
  return Object.assign(violations, { fits: (value: unknown): value is unknown => validate(value) });
}

/** Made when it is first used: a process knows many more schemas than it is asked for, and each takes time and memory to compile. */
export function lazyValidator<T>(make: () => Validator<T>): Validator<T> {
  let made: Validator<T> | null = null;
  const validator = (): Validator<T> => (made ??= make());
  return Object.assign((value: unknown) => validator()(value), {
    fits: (value: unknown): value is T => validator().fits(value),
  });
}

const instances = new Map<string, Ajv2020>();

/** The validator of a schema of ours, compiled when it is first used. The schemas have to be constants: they are kept for good. */
export function validatorOf<const S>(
  schema: S & JsonSchema,
  options?: ValidatorOptions,
): Validator<Described<S>>;
export function validatorOf(
  schema: JsonSchema,
  { useDefaults = false, coerce = false }: ValidatorOptions = {},
): Validator {
  return lazyValidator(() => {
    const kind = `${useDefaults} ${coerce}`;
    const ajv = instances.get(kind) ?? createAjv({ useDefaults, coerce });
    instances.set(kind, ajv);
    const validator = compileValidator(ajv, schema);
    return coerce ? onlyFinite(validator) : validator;
  });
}

/** A text like 1e309 becomes an infinite number, which Ajv measures by no keyword. */
function onlyFinite(validator: Validator): Validator {
  const violations = (value: unknown): readonly Violation[] | null => {
    const found = validator(value);
    const endless = Object.entries(recordOf(value)).find(
      ([, each]) => each === Infinity || each === -Infinity,
    );
    if (endless === undefined) return found;
    return [...(found ?? []), { path: `/${endless[0]}`, message: 'is out of range' }];
  };
  return Object.assign(violations, {
    fits: (value: unknown): value is unknown => violations(value) === null,
  });
}

/**
 * As `validatorOf`, for a file of this node: members that the schema does not have are let through wherever they are, since a newer
 * version may have written it before the node went back to this one.
 */
export function fileValidatorOf<const S>(
  schema: S & JsonSchema,
  options?: ValidatorOptions,
): Validator<Described<S>>;
export function fileValidatorOf(schema: JsonSchema, options?: ValidatorOptions): Validator {
  return lazyValidator(() => validatorOf(opened(schema), options));
}

function opened(schema: JsonSchema): JsonSchema {
  const copy = structuredClone(schema);
  letIn(copy);
  return copy;
}

/** Takes the word away that forbids other members, at each depth. */
function letIn(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if ('additionalProperties' in schema && schema.additionalProperties === false)
    Reflect.deleteProperty(schema, 'additionalProperties');
  for (const part of Object.values(schema)) letIn(part);
}

function violationsOf(errors: readonly ErrorObject[]): readonly Violation[] {
  const said = worthSaying(errors)
    .slice(0, MAX_VIOLATIONS)
    .map((error) => ({
      path: `${error.instancePath}${unknownMember(error.keyword, error.params)}`,
      message: wordsOf(error),
    }));
  return said.filter(
    ({ path, message }, at) => said.findIndex((one) => one.path === path && one.message === message) === at,
  );
}

/** The end of the pointer to a member that the schema does not have: Ajv names only the object that it is in. */
function unknownMember(keyword: string, params: JsonObject): string {
  if (keyword !== 'additionalProperties') return '';
  return `/${String(params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
