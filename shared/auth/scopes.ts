/** The six scope classes of a token (spec/specification.md 2). A route needs exactly one; none implies another. */
export const SCOPES = ['read', 'safe_write', 'admin', 'flight', 'destructive', 'secret_read'] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}
