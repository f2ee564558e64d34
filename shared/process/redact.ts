// Pairing keys, scoped tokens (two base64url halves), long hex (signing keys). Masking at the last step means that no call site
// can forget it. Patterns: docs/contract/credentials.md.
const SECRETS = /svc_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\b[0-9a-fA-F]{64}\b/g;

/** `text` with `***` in place of everything that looks like a secret. */
export function redact(text: string): string {
  return text.replace(SECRETS, '***');
}
