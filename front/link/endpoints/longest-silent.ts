/** Who of these has been silent for longest; undefined of none. */
export function longestSilent<T extends { readonly peer: { readonly heardAt: number } }>(
  peers: Iterable<T>,
): T | undefined {
  let found: T | undefined;
  for (const each of peers) if (found === undefined || each.peer.heardAt < found.peer.heardAt) found = each;
  return found;
}
