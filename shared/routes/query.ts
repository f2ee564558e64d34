/**
 * The query as an object of its members, all text; null where one occurs twice, because two readers could take different
 * ones.
 * @param query without the question mark
 */
export function parseQuery(query: string): Readonly<Record<string, string>> | null {
  const members = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (members.has(name)) return null;
    members.set(name, value);
  }
  return Object.fromEntries(members);
}
