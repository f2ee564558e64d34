import { signal } from '@preact/signals';
import { isScope, type Scope } from '../../../../shared/auth/scopes.ts';
import { memberOf, parseJson, recordOf } from '../../../../shared/member.ts';

/**
 * What this browser shows the node, always as a header, so that no other site can make it speak for the operator. A session
 * outlives a reload of its tab, and the tab where the operator asks for it; a key or a token is in memory alone. Of a key the
 * session that it was traded for is what a reload leaves.
 */
export type Credential =
  | Session
  | { readonly kind: 'key'; readonly value: string; readonly session: Session | null }
  | { readonly kind: 'token'; readonly value: string; readonly scopes: readonly Scope[] };

export interface Session {
  readonly kind: 'session';
  readonly value: string;
}

const HEADERS = { session: 'x-svc-dashboard-session', key: 'x-svc-key', token: 'x-svc-mcp-token' } as const;
const STORED = 'svc-dashboard-session';

export const credential = signal<Credential | null>(restored());

/** Why the page asks for a credential: `ended`: there was one, and the node no longer takes it. */
export const lost = signal<'ended' | null>(null);

/** How this page calls itself towards the ground station's rule of one pilot in command. */
export const clientId = `page-${[...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** @param held shown instead of what this browser holds */
export function credentialHeaders(held: Credential | null = credential.value): Record<string, string> {
  return { 'x-svc-client-id': clientId, ...(held === null ? {} : { [HEADERS[held.kind]]: held.value }) };
}

/** @param keep its session: also for the next visit of this browser */
export function hold(next: Credential, keep = isKept()): void {
  const session = next.kind === 'key' ? next.session : next.kind === 'session' ? next : null;
  forget();
  if (session !== null) (keep ? localStorage : sessionStorage).setItem(STORED, JSON.stringify(session));
  lost.value = null;
  credential.value = next;
}

/** Whether the person stays signed in on this browser. */
export function isKept(): boolean {
  return localStorage.getItem(STORED) !== null;
}

export function lose(why: 'ended' | null): void {
  forget();
  lost.value = why;
  credential.value = null;
}

/** The credential in what a person pasted; null: it is no key, no token and no PIN of this node. */
export function credentialIn(text: string): Exclude<Credential, { kind: 'session' }> | null {
  const value = text.trim();
  if (value.startsWith('svc_')) return { kind: 'key', value, session: null };
  const claims = value.includes('.') ? value.slice(0, value.lastIndexOf('.')) : '';
  try {
    const scopes = memberOf(parseJson(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))), 'scopes');
    return Array.isArray(scopes) ? { kind: 'token', value, scopes: scopes.filter(isScope) } : null;
  } catch {
    return null; // not base64url, or no claims
  }
}

function forget(): void {
  for (const place of [localStorage, sessionStorage]) place.removeItem(STORED);
}

function restored(): Credential | null {
  try {
    const text = sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED);
    const { kind, value } = recordOf(parseJson(text ?? 'null'));
    return kind === 'session' && typeof value === 'string' ? { kind, value } : null; // the node knows when it ends
  } catch {
    forget();
    return null; // another version of the page wrote it
  }
}
