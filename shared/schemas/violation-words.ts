import type { ErrorObject } from 'ajv';
import { isKeyOf, type JsonObject, memberOf } from '../member.ts';
import { FORMATS } from './addresses.ts';

/** What a person reads of a value that does not fit its schema, in place of Ajv's words. */

type Params = JsonObject;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};
/** They report what lies below them as well: only their own word counts. */
const OVER_OTHERS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);
/** What fails by itself says enough. */
const SILENT: ReadonlySet<string> = new Set(['if']);

/** They tell what is not so, and not what is meant. */
const VAGUE: ReadonlySet<string> = new Set(
  'anyOf oneOf not contains pattern minProperties maxProperties propertyNames'.split(' '),
);

/** The errors that a person should read, of all that Ajv reports for a value. */
export function worthSaying(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const over = errors
    .filter(({ keyword }) => OVER_OTHERS.has(keyword))
    .map(({ schemaPath }) => `${schemaPath}/`);
  return errors.filter(
    ({ keyword, schemaPath }) => !SILENT.has(keyword) && !over.some((path) => schemaPath.startsWith(path)),
  );
}

/**
 * The end of a sentence that begins with the place of the value: `must be from 1 to 30`. The schema's own `x-says` comes first
 * where the keyword tells nothing of what is meant. Wants Ajv's `verbose`.
 */
export function wordsOf({ keyword, params, parentSchema, schema }: ErrorObject): string {
  const says = memberOf(parentSchema, 'x-says');
  if (typeof says === 'string' && VAGUE.has(keyword)) return says;
  return (WORDS[keyword] ?? unfit)(params, parentSchema ?? {}, schema);
}

type Words = (params: Params, parent: Params, schema: unknown) => string;

/** Of every keyword that our schemas use; others come from the schemas of extensions. */
export const WORDS: Readonly<Record<string, Words>> = {
  type: ({ type }) => `must be ${either([type].flat().map((each) => TYPES[String(each)] ?? String(each)))}`,
  required: ({ missingProperty }) => `needs "${String(missingProperty)}"`,
  additionalProperties: () => 'is not known here',
  'false schema': () => 'is not possible here',
  enum: ({ allowedValues }) => `must be ${either([allowedValues].flat().map(shown))}`,
  const: ({ allowedValue }) => `must be ${shown(allowedValue)}`,
  format: ({ format }) => `must be ${formOf(String(format))}`,
  pattern: ({ pattern }, { description }) => {
    const told = [description, isReadable(String(pattern)) ? pattern : null].filter(
      (text) => typeof text === 'string',
    );
    return `does not have the right form${told.length === 0 ? '' : ` (${told.join('; ')})`}`;
  },
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${many(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${many(limit, 'character')}`,
  minimum: (_, parent) => `must be ${range(parent)}`,
  maximum: (_, parent) => `must be ${range(parent)}`,
  exclusiveMinimum: (_, parent) => `must be ${range(parent)}`,
  exclusiveMaximum: (_, parent) => `must be ${range(parent)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minItems: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${many(limit, 'entry', 'entries')}`,
  maxItems: ({ limit }) => `must have at most ${many(limit, 'entry', 'entries')}`,
  uniqueItems: ({ i, j }) => `has the same entry twice, at ${String(j)} and ${String(i)}`,
  'x-unique': (_, __, member) => `has two entries with the same ${String(member)}`,
  contains: () => 'lacks an entry that it needs',
  minProperties: ({ limit }, { properties }) =>
    limit === 1 && properties === undefined
      ? 'must not be empty'
      : `needs at least ${String(limit)} of ${membersOf(properties)}`,
  maxProperties: ({ limit }, { properties }) =>
    `must have at most ${String(limit)} of ${membersOf(properties)}`,
  propertyNames: ({ propertyName }) =>
    `has "${String(propertyName)}", which is no name that is possible here`,
  not: (_, __, schema) => `must not be ${shown(memberOf(schema, 'const') ?? 'what it is')}`,
  anyOf: (_, parent, schema) => alternatives(schema, parent, 'needs'),
  oneOf: (_, parent, schema) => alternatives(schema, parent, 'needs exactly one of'),
};

function unfit(_: Params, { description }: Params): string {
  return typeof description === 'string' ? `does not fit: ${description}` : 'does not fit its schema';
}

/** A person can make something of the expression: it is short and has no code points. */
function isReadable(pattern: string): boolean {
  return pattern.length <= 50 && !pattern.includes('\\u');
}

/** Of a text by the schema's description, else by the members or the forms of its branches. */
function alternatives(schema: unknown, { type, description }: Params, needs: string): string {
  if (type === 'string' && typeof description === 'string') return `must be ${description}`;
  const branches = [schema].flat();
  const needed = branches.map((branch) => [memberOf(branch, 'required')].flat());
  if (needed.every(([first]) => first !== undefined))
    return `${needs} ${either(needed.map((names) => names.map((name) => `"${String(name)}"`).join(' and ')))}`;
  const types = branches.flatMap((branch) => TYPES[String(memberOf(branch, 'type'))] ?? []);
  return types.length === branches.length
    ? `must be ${either([...new Set(types)])}`
    : 'is none of the forms that are possible here';
}

function formOf(format: string): string {
  if (format === 'date-time') return 'a time such as 2026-01-31T12:00:00Z';
  if (format === 'date') return 'a day such as 2026-01-31';
  return isKeyOf(FORMATS, format) ? FORMATS[format].forms : `of the form ${format}`;
}

function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Params): string {
  if (minimum !== undefined && maximum !== undefined) return `from ${shown(minimum)} to ${shown(maximum)}`;
  const bounds = [
    minimum === undefined ? null : `${shown(minimum)} or more`,
    maximum === undefined ? null : `${shown(maximum)} or less`,
    exclusiveMinimum === undefined ? null : `more than ${shown(exclusiveMinimum)}`,
    exclusiveMaximum === undefined ? null : `less than ${shown(exclusiveMaximum)}`,
  ];
  return bounds.filter((bound) => bound !== null).join(' and ');
}

function membersOf(properties: unknown): string {
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return names.length === 0 ? 'its members' : names.join(', ');
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.:@-]+$/.test(value) ? value : JSON.stringify(value);
}

function either(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

function many(count: unknown, one: string, more = `${one}s`): string {
  return `${shown(count)} ${count === 1 ? one : more}`;
}
