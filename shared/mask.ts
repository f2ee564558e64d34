/** Blots out secrets: by the name of a member, and by the shape of a text. */

/** What stands in the place of a secret that is set, wherever it would be shown. */
export const MASK = '***';

/** Pairing keys, scoped tokens (two base64url halves), long hex (signing keys). Patterns: docs/contract/credentials.md. */
const SECRETS = /svc_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\b[0-9a-fA-F]{64}\b/g;

const NAMES =
  /pass(?:word|wd|phrase)|secret|api_?key|token|psk|private_?key|pairing_?key|credential|authorization|bearer|^(?:current_)?pin$/i;
/** Members whose name looks like a secret but is not. */
const HARMLESS = /^(?:token_id|tokenId|token_accept_enabled|pairing_code_required|code_required)$/;
/** The pairing code of these answers and arguments; elsewhere `code` is an error's. */
const PAIRING_CODE = /^[A-HJKMNP-Z2-9]{6}$/;

/** `text` with the mask in place of everything that looks like a secret. At the last step, so that no call site can forget it. */
export function maskText(text: string): string {
  return text.replace(SECRETS, MASK);
}

/** Whether what has this name, or this dotted key, is a secret. */
export function isSecretName(name: string): boolean {
  return NAMES.test(name) && !HARMLESS.test(name);
}

/** A copy, masked by name and by shape; booleans and nulls are kept, so that one can see whether a value is set. */
export function maskSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  return membersOf(value, (member, name) => (isSecret(name, member) ? maskAll(member) : maskSecrets(member)));
}

function isSecret(name: string, member: unknown): boolean {
  return name === 'code' ? typeof member === 'string' && PAIRING_CODE.test(member) : isSecretName(name);
}

function maskAll(value: unknown): unknown {
  if (value === null || value === '' || typeof value === 'boolean') return value;
  return typeof value === 'object' ? membersOf(value, maskAll) : MASK;
}

/** A copy of a list or an object with other members; anything else as it is. Entries of a list have no name. */
function membersOf(value: unknown, change: (member: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => change(member, ''));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]));
}
