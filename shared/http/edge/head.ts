/** What is the same about every request, whatever it asks for: one reading of its headers, one Host (docs/contract/edge.md#target). */

/** Lower case, with underscores as hyphens: some programs behind a proxy treat both spellings as one name. */
export function headerName(raw: string): string {
  const lower = raw.toLowerCase();
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}

/** A credential that came twice, has a comma (a merged pair), or has underscores in its name, which proxies drop or keep, is ignored. */
export class Single {
  value: string | null = null;
  #count = 0;

  add(value: string, name: string): void {
    this.#count++;
    const isPlain = value !== '' && !value.includes(',') && !name.includes('_');
    this.value = this.#count === 1 && isPlain ? value : null;
  }

  get offered(): boolean {
    return this.#count > 0;
  }
}

/** The host part of a Host header or of an origin's authority, lower case, without port; null where it is not one. */
export function hostName(authority: string): string | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(authority);
  if (Number(match?.[3] ?? 1) < 1 || Number(match?.[3] ?? 1) > 65_535) return null;
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}

/** What is wrong with the Host of a request; null: nothing. @param hosts how many came @param host the last of them */
export function hostProblem(hosts: number, host: string | null): string | null {
  return hosts === 1 && host !== null && hostName(host) !== null
    ? null
    : 'Send exactly one Host header with a host and an optional port.';
}

/** The sentence for a target that two parsers could read differently. @param why from `Matcher`, or `whyNotCanonical` */
export function targetProblem(why: string): string {
  return `Ambiguous request target: ${why}.`;
}
