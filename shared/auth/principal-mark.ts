/**
 * How the front tells the residual for whom a proxied request acts: header `x-svc-principal`, `payload.signature`, signed
 * with the per-boot secret that the supervisor hands to both, and bound to this method and target. Absent or wrong means
 * refused, never trusted (spec/decisions.md 4).
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Principal } from './principal.ts';

export const PRINCIPAL_HEADER = 'x-svc-principal';

const MAX_AGE_MS = 30_000;

interface Mark {
  readonly principal: Principal;
  readonly forced: boolean;
  readonly at: number;
}

/** The per-boot secret as a key; null for an empty one, which a process that runs alone has, and which signs nothing. */
export function markKey(secret: string): KeyObject | null {
  return secret === '' ? null : createSecretKey(secret, 'utf8');
}

function signature(secret: KeyObject, payload: string, method: string, target: string): Buffer {
  return createHmac('sha256', secret).update(`${method} ${target}\n${payload}`).digest();
}

/** @param nowMs wall clock, ms */
export function signPrincipal(
  secret: KeyObject,
  subject: { readonly principal: Principal; readonly forced: boolean },
  method: string,
  target: string,
  nowMs: number,
): string {
  const mark: Mark = { principal: subject.principal, forced: subject.forced, at: nowMs };
  const payload = Buffer.from(JSON.stringify(mark)).toString('base64url');
  return `${payload}.${signature(secret, payload, method, target).toString('base64url')}`;
}

/** The signed mark, or null where it is missing, forged, for another request, or older than 30 s. */
export function verifyPrincipal(
  secret: KeyObject | null,
  header: string | undefined,
  method: string,
  target: string,
  nowMs: number,
): { readonly principal: Principal; readonly forced: boolean } | null {
  const [payload, given, ...more] = header?.split('.') ?? [];
  if (secret === null || payload === undefined || given === undefined || more.length > 0) return null;
  const expected = signature(secret, payload, method, target);
  const offered = Buffer.from(given, 'base64url');
  if (offered.length !== expected.length || !timingSafeEqual(offered, expected)) return null;
  // The signature is ours, so the payload is what signPrincipal wrote.
  const mark = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Mark;
  return Math.abs(nowMs - mark.at) <= MAX_AGE_MS ? mark : null;
}
