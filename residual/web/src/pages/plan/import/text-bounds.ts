/** What a file of shapes may be, counted before a parser builds anything of it. */

export type TooMuch = 'size' | 'depth' | 'nodes' | 'doctype' | 'unclosed';

export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Of the text, in a KMZ file when unpacked. */
export const MAX_TEXT = 8 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 60_000;
const MAX_VALUES = 600_000;

/** Elements and their depth; a document type is refused, as it may have entities that grow. Null: it may be parsed. */
export function xmlBounds(text: string): TooMuch | null {
  if (text.length > MAX_TEXT) return 'size';
  let depth = 0;
  let elements = 0;
  for (let at = text.indexOf('<'); at >= 0; ) {
    const end = endOf(text, at);
    const next = text[at + 1];
    if (next === '!' && !text.startsWith('<!--', at) && !text.startsWith('<![CDATA[', at)) return 'doctype';
    if (next === '/') depth--;
    else if (next !== '?' && next !== '!') {
      if (++elements > MAX_ELEMENTS) return 'nodes';
      if (text[end - 1] !== '/') depth++;
      if (depth > MAX_DEPTH) return 'depth';
    }
    at = text.indexOf('<', end);
  }
  return depth === 0 ? null : 'unclosed';
}

/** Where the markup that begins there ends: its `>`, or the end of the text. */
function endOf(text: string, at: number): number {
  for (const [begin, finish] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
  ] as const) {
    if (!text.startsWith(begin, at)) continue;
    const found = text.indexOf(finish, at + begin.length);
    return found < 0 ? text.length : found + finish.length - 1;
  }
  let quote = '';
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return i;
  }
  return text.length;
}

/** Brackets and commas outside of strings. */
export function jsonBounds(text: string): TooMuch | null {
  if (text.length > MAX_TEXT) return 'size';
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === 0x5c) at++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return 'depth';
      if (++values > MAX_VALUES) return 'nodes';
    } else if (char === 0x7d || char === 0x5d) depth--;
    else if (char === 0x2c && ++values > MAX_VALUES) return 'nodes';
  }
  return null;
}
