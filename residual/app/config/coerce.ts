import type { ConfigNode } from '../../../shared/config/keys.ts';

/**
 * Reads a text as the type that the schema wants: `"true"`, `"25"`, JSON text or a comma list for a list. A text that does
 * not read as that type stays as it is, so that the schema's own error names it. Anything but a text stays too.
 */
export function coerce(leaf: ConfigNode, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  switch (leaf.type) {
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
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return otherwise;
    throw error;
  }
}
