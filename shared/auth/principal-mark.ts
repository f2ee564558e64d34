/**
 * How svc-control sends its decision about a request to the residual: header `x-svc-principal`, base64url of a JSON `Mark`.
 * `x-svc-proof` proves that svc-control wrote it: only processes with the per-boot secret can make it. The residual checks it
 * once per connection, which is a Unix socket between two processes of one boot. Without the right proof a request is refused
 * (docs/contract/edge.md#handler-or-proxy).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Principal } from './principal.ts';

export const PRINCIPAL_HEADER = 'x-svc-principal';
export const PROOF_HEADER = 'x-svc-proof';

/**
 * The first of a browser's two subprotocols; the second is its ticket. svc-control removes the ticket, and whoever completes
 * the handshake answers this one, or the browser would give up.
 */
export const TICKET_PROTOCOL = 'svc-ws-ticket';

/**
 * Instead of a row: the principals with these ids have ended, so the residual closes what it has open for them. The answer
 * lists the principals that still have something open.
 */
export const ENDED_ROW = 'principals.ended';

/** The decision; the residual does not decide again. */
export interface Mark {
  /** Id of the row that allowed the request. */
  readonly row: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
  /** The armed guard was overridden. */
  readonly forced: boolean;
}

/**
 * The proof that svc-control sends on a connection to the residual.
 * @param secret the supervisor's per-boot secret; empty in a process without a supervisor
 * @returns null for an empty secret, which proves nothing
 */
export function connectionProof(secret: string): string | null {
  return secret === '' ? null : createHmac('sha256', secret).update('svc front to residual').digest('hex');
}

/** Whether `offered` is the right proof for this boot's secret. */
export function isProof(offered: unknown, expected: string | null): boolean {
  if (typeof offered !== 'string' || expected === null || offered.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(offered), Buffer.from(expected));
}

export function encodeMark({ row, params, principal, forced }: Mark): string {
  return Buffer.from(JSON.stringify({ row, params, principal, forced })).toString('base64url');
}

/** The mark of a request on a proved connection, so it comes from `encodeMark`; null if there is none. */
export function decodeMark(header: unknown): Mark | null {
  return typeof header === 'string'
    ? (JSON.parse(Buffer.from(header, 'base64url').toString()) as Mark)
    : null;
}
