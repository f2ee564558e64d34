/**
 * The query as an object of texts; null if a member occurs twice, because two readers could use different ones.
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
