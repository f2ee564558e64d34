/** Addresses of this page that may become a script (Trusted Types); no string of any other kind passes. */

/** Not in the types of TypeScript yet. */
interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { createScriptURL: (url: string) => string | null },
  ) => unknown;
}

const trusted = new Set<string>();

(globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('default', {
  createScriptURL: (url) => (trusted.has(url) ? url : null),
});

/** @returns the address */
export function trustScript(url: string): string {
  trusted.add(url);
  return url;
}
