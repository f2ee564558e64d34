/**
 * How the front tells the residual what it decided about a request: header `x-svc-principal`, base64url of a JSON `Mark`.
 * That the front wrote it is proved by `x-svc-proof`, which only the holders of the per-boot secret can make; the residual
 * looks at it once a connection. The socket is a Unix socket between two processes of one boot, so nobody stands between.
 * Absent or wrong means refused, never trusted (docs/contract.md 4.14).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Principal } from './principal.ts';

export const PRINCIPAL_HEADER = 'x-svc-principal';
export const PROOF_HEADER = 'x-svc-proof';

/**
 * Instead of a row: the principals of these ids have ended, and what the residual keeps open for them ends too. The answer
 * lists for whom something is still open.
 */
export const ENDED_ROW = 'principals.ended';

/** What was decided: nothing behind the front decides it again. */
export interface Mark {
  /** Id of the row that the request was let in by. */
  readonly row: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
  /** The armed guard was overridden. */
  readonly forced: boolean;
}

/**
 * What the front shows on a connection to the residual.
 * @param secret the supervisor's per-boot secret; empty in a process that runs alone
 * @returns null for an empty secret, which proves nothing
 */
export function connectionProof(secret: string): string | null {
  return secret === '' ? null : createHmac('sha256', secret).update('svc front to residual').digest('hex');
}

/** Whether `offered` is the proof that this boot's secret makes. */
export function isProof(offered: unknown, expected: string | null): boolean {
  if (typeof offered !== 'string' || expected === null || offered.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(offered), Buffer.from(expected));
}

export function encodeMark({ row, params, principal, forced }: Mark): string {
  return Buffer.from(JSON.stringify({ row, params, principal, forced })).toString('base64url');
}

/** The mark of a request whose connection was proved, so it is what `encodeMark` wrote; null where there is none. */
export function decodeMark(header: unknown): Mark | null {
  return typeof header === 'string'
    ? (JSON.parse(Buffer.from(header, 'base64url').toString()) as Mark)
    : null;
}
