/** Control characters (also of terminals and of bidirectional text), invisible and private ones, lone surrogates; not a line's end. */
const UNSAFE = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu;

/** @returns a copy in which words that come from elsewhere show what they are: nothing hides, turns round or steers a terminal */
export function plainWords<T>(value: T): T {
  return cleaned(value) as T;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(UNSAFE, ' ');
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.replaceAll(UNSAFE, ' '), cleaned(member)]),
  );
}
