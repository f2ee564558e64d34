/** Whoever walks through deeper ones runs out of stack: nothing here is as deep. */
export const MAX_JSON_DEPTH = 64;

/**
 * The first name that an object of a JSON text has twice; null: none. Parsers do not agree on which of both counts, so what was
 * checked might be another value than what is used.
 * @param text that JSON.parse takes
 */
export function repeatedName(text: string): string | null {
  /** Names of the objects that are open; null: a list. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const from = at;
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
      const names = open.at(-1);
      if (!isName || names === null || names === undefined) continue;
      isName = false;
      const name = String(JSON.parse(text.slice(from, at + 1)));
      if (names.has(name)) return name;
      names.add(name);
    } else if (char === '{') {
      open.push(new Set());
      isName = true;
    } else if (char === '[') {
      open.push(null);
      isName = false;
    } else if (char === '}' || char === ']') {
      open.pop();
      isName = false;
    } else if (char === ',') isName = open.at(-1) !== null;
  }
  return null;
}

/** Whether a JSON text nests deeper: brackets outside strings, counted before a parser sees them. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}
