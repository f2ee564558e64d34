import type { ConfigNode } from '../../../shared/config/keys.ts';
import { parseJson } from '../../../shared/member.ts';

/**
 * Converts a text to the type in the schema: `"true"`, `"25"`, JSON text, a comma list for a list, or one of its choices; `"null"` and
 * an empty text where the schema has null beside a type that is no text. Other values, and texts that are not of that type, stay
 * unchanged, so that the schema reports the error.
 */
export function coerce(leaf: ConfigNode, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const choices = leaf['enum'];
  if (Array.isArray(choices)) return choices.find((each: unknown) => String(each) === text) ?? value;
  const types: readonly unknown[] = Array.isArray(leaf.type) ? leaf.type : [leaf.type];
  if (types.includes('null') && !types.includes('string') && (text === 'null' || text === '')) return null;
  switch (types.find((type) => type !== 'null')) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : value;
    case 'integer':
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : value;
    case 'array':
      return text.startsWith('[') ? parseOr(text, value) : commaList(text);
    default:
      return value;
  }
}

function commaList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

function parseOr(text: string, otherwise: unknown): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return otherwise;
    throw error;
  }
}
