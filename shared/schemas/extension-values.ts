import { plainText } from '../plain-text.ts';
import type { JsonSchema } from './json-schema.ts';

/** What an extension may add to the telemetry, below `extensions.<its id>`: flat, so that every reader can show it. */
export const extensionValues = {
  type: 'object',
  maxProperties: 32,
  propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_]{0,39}$' },
  additionalProperties: {
    anyOf: [
      { type: ['number', 'boolean', 'null'] },
      { type: 'string', maxLength: 128 },
      { type: 'array', maxItems: 16, items: { type: ['number', 'null'] } },
    ],
  },
} as const satisfies JsonSchema;

/** As the schema says. */
export type ExtensionValues = Readonly<
  Record<string, number | boolean | null | string | readonly (number | null)[]>
>;

/** Of all values of one extension, as JSON: a snapshot of telemetry goes out ten times a second. */
const MAX_VALUE_CHARS = 2048;
/** Extensions that add to the telemetry at a time. */
export const MAX_EXTENDING = 8;
/** Values that were not sent again for so long are gone, ms. */
export const VALUES_FRESH_MS = 10_000;

/** The values with texts that control nothing. @param values valid by `extensionValues` @throws Error if they are too long */
export function plainValues(values: ExtensionValues): ExtensionValues {
  const plain = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? plainText(value) : value,
    ]),
  );
  if (JSON.stringify(plain).length > MAX_VALUE_CHARS)
    throw new Error(`values: at most ${MAX_VALUE_CHARS} characters of JSON`);
  return plain;
}
