import { isRecord, memberOf } from '../shared/member.ts';
import type { JsonSchema } from '../shared/schemas/json-schema.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/**
 * What a client means that sends numbers and truths as texts, as some models and frameworks do: a text that is exactly one, where the
 * schema wants one and takes no text. All else stays for the schema to refuse; nothing becomes a number that was none.
 */
export function typedArguments(value: unknown, schema: JsonSchema): unknown {
  if (typeof value === 'string')
    return typeof schema.type === 'string' ? fromText(value, schema.type) : value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return isRecord(items) ? value.map((each) => typedArguments(each, items)) : value;
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const own = memberOf(schema.properties, name);
      return [name, isRecord(own) ? typedArguments(member, own) : member];
    }),
  );
}

function fromText(text: string, type: string): unknown {
  if (type === 'boolean') return WORDS.get(text) ?? text;
  if (type !== 'number' && type !== 'integer') return text;
  const number = Number(text);
  return NUMBER.test(text) && Number.isFinite(number) ? number : text;
}
