/** The fingerprint by which people and programs know a node again: the SHA-256 of its certificate authority. */

/** 64 hex digits. @param certificate of Node */
export function fingerprintOf({ fingerprint256 }: { readonly fingerprint256: string }): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

/** As two people compare it: the first 32 digits, in groups of four, as of a radio. */
export function shownFingerprint(sha256: string): string {
  return sha256.slice(0, 32).match(/.{4}/g)?.join(' ') ?? '';
}

/** What a person copied, all 64 digits or the 32 that are shown, with or without spaces and colons; null for anything else. */
export function fingerprintIn(text: string): string | null {
  const digits = text.replaceAll(/[\s:]/g, '').toLowerCase();
  return /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/.test(digits) ? digits : null;
}
