import type { JSONSchema } from 'json-schema-to-ts';

/** A JSON Schema (2020-12) written `as const`, so that its TypeScript type can be derived from it. */
export type JsonSchema = Exclude<JSONSchema, boolean> & {
  /** What a person is told of a value that does not fit, where the keywords do not tell what is meant: `must be …`, `needs …`. */
  readonly 'x-says'?: string;
  /** The member in which no two entries of a list may be the same. */
  readonly 'x-unique'?: string;
};

/**
 * A member under the name of an earlier version, which stays for one version beside its new one.
 *
 * @param now the new name and, where it is another, the unit: "`roll_deg` in radians"
 */
export function formerly<const S extends object>(schema: S, now: `\`${string}\`${string}`): S {
  return { ...schema, deprecated: true, description: now };
}
