/** What came from outside, looked into without a cast. */

import { isTooDeep, MAX_JSON_DEPTH } from './json-depth.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of a JSON text, which may be anything. @throws SyntaxError, also for one that nests too deep */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  return JSON.parse(text);
}

/** Whether it is an object of JSON: neither null nor a list. */
export function isRecord(value: unknown): value is JsonObject {
  return isObject(value) && !Array.isArray(value);
}

/** Whether it has members: an object or a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** An object of JSON. @throws Error for anything else */
export function asRecord(value: unknown): JsonObject {
  if (!isRecord(value)) throw new Error('it is not a JSON object');
  return value;
}

/** The members of an object or a list; none of anything else. */
export function recordOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The entries of a list; none of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An own member of what came from outside; undefined where there is none, or where `value` is no object. */
export function memberOf(value: unknown, name: string): unknown {
  const record = recordOf(value);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether it is one of these; `includes` of a list of literals takes no other text. */
export function isOneOf<T>(known: readonly T[], value: unknown): value is T {
  const all: readonly unknown[] = known;
  return all.includes(value);
}

/** Whether `object` has this member of its own. */
export function isKeyOf<T extends object>(object: T, name: unknown): name is keyof T & string {
  return typeof name === 'string' && Object.hasOwn(object, name);
}

/** The names of the members that the type of `object` has; only for what was made here, so that it has no others. */
export function keysOf<T extends object>(object: T): readonly (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}

/** The members that the type of `object` has, as `keysOf`. */
export function entriesOf<T extends object>(
  object: T,
): readonly (readonly [keyof T & string, T[keyof T & string]])[] {
  return keysOf(object).map((key) => [key, object[key]] as const);
}
