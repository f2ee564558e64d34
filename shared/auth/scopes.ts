/** The six scope classes of a token (docs/contract/credentials.md#scopes). A route needs one, what a request names adds to it; none implies another. */
export const SCOPES = ['read', 'safe_write', 'admin', 'flight', 'destructive', 'secret_read'] as const;

export type Scope = (typeof SCOPES)[number];

/** The higher of two classes, in the order of `SCOPES`; secret_read counts as a read. */
export function higher(a: Scope, b: Scope): Scope {
  return rank(a) >= rank(b) ? a : b;
}

function rank(scope: Scope): number {
  return scope === 'secret_read' ? 0.5 : SCOPES.indexOf(scope);
}

export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}
