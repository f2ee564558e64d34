/** What came from outside, looked into without a cast. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether it is an object of JSON: neither null nor a list. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object or a list; none of anything else. */
export function recordOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** An own member of what came from outside; undefined where there is none, or where `value` is no object. */
export function memberOf(value: unknown, name: string): unknown {
  const record = recordOf(value);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
