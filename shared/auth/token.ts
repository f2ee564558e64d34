/**
 * Scoped tokens: `base64url(claims) "." base64url(HMAC-SHA256(K, claims bytes))`, without padding, with `K = HKDF-SHA256(ikm =
 * pairing key, salt = "svc/mcp-token/v1", info = revocation salt, 32 bytes)` (docs/contract/credentials.md#scoped-tokens). The signature is over the
 * received bytes, so that an issuer may use any order of claims. Pure: no clock, no file.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isRecord } from '../member.ts';
import { isScope, type Scope } from './scopes.ts';

const LABEL = 'svc/mcp-token/v1';
const KEY_BYTES = 32;
const MAX_TOKEN_CHARS = 8192;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const TOKEN_ID = /^mct_[A-Za-z0-9_-]{1,64}$/;

/**
 * A clock that is earlier than this version of the software was never set: a board without a battery clock boots in 1970, and
 * with that clock tokens would never expire. Wall clock, ms.
 */
export const CLOCK_FLOOR_MS = Date.UTC(2026, 0, 1);

export type TokenId = `mct_${string}`;

export interface TokenClaims {
  readonly tokenId: TokenId;
  readonly operatorId: string;
  /** `agent:<device id>` of the node that the token is for. */
  readonly iss: string;
  readonly scopes: readonly Scope[];
  /** Advice to the client; the node ignores it. */
  readonly allowedNodes: readonly string[];
  /** Wall clock, ms; from then on the token is expired. */
  readonly expiresAt: number;
  readonly label: string;
}

interface TokenContext {
  readonly deviceId: string;
  /** Wall clock, ms. */
  readonly nowMs: number;
  readonly isRevoked: (id: TokenId) => boolean;
}

export function isTokenId(value: unknown): value is TokenId {
  return typeof value === 'string' && TOKEN_ID.test(value);
}

/** The issuer of the tokens of the node `deviceId`. */
export function issuerOf(deviceId: string): string {
  return `agent:${deviceId}`;
}

/** @param salt the revocation salt of the node's token store; a new one ends every earlier token */
export function deriveTokenKey(pairingKey: string, salt: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', pairingKey, LABEL, salt, KEY_BYTES)));
}

export function signToken(key: KeyObject, claims: TokenClaims): string {
  const { tokenId, operatorId, iss, scopes, allowedNodes, expiresAt, label } = claims;
  const bytes = Buffer.from(
    JSON.stringify({ tokenId, operatorId, iss, scopes, allowedNodes, expiresAt, label }),
  );
  return `${bytes.toString('base64url')}.${mac(key, bytes).toString('base64url')}`;
}

/** The claims of a token that is valid on this node now; null for every other text. */
export function verifyToken(
  text: string,
  key: KeyObject,
  { deviceId, nowMs, isRevoked }: TokenContext,
): TokenClaims | null {
  if (text.length > MAX_TOKEN_CHARS) return null;
  const dot = text.lastIndexOf('.');
  if (dot < 1) return null;
  const bytes = strictBase64Url(text.slice(0, dot));
  const offered = strictBase64Url(text.slice(dot + 1));
  if (bytes === null || offered === null) return null;
  const expected = mac(key, bytes);
  if (offered.length !== expected.length || !timingSafeEqual(offered, expected)) return null;
  const claims = parseClaims(bytes);
  if (claims === null || claims.iss !== issuerOf(deviceId)) return null;
  if (nowMs < CLOCK_FLOOR_MS || claims.expiresAt <= nowMs) return null;
  return isRevoked(claims.tokenId) ? null : claims;
}

function mac(key: KeyObject, bytes: Uint8Array): Buffer {
  return createHmac('sha256', key).update(bytes).digest();
}

/** Only the canonical spelling is accepted: any changed character makes the token invalid. */
function strictBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === text ? bytes : null;
}

/** Unknown members are ignored; `allowedNodes` and `label` may be missing. */
function parseClaims(bytes: Buffer): TokenClaims | null {
  const value = parseJson(bytes);
  if (!isRecord(value)) return null;
  const { tokenId, operatorId, iss, scopes, allowedNodes = [], expiresAt, label = '' } = value;
  if (!isTokenId(tokenId) || typeof operatorId !== 'string' || typeof iss !== 'string') return null;
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every(isScope)) return null;
  if (new Set(scopes).size !== scopes.length) return null;
  if (!Array.isArray(allowedNodes) || !allowedNodes.every((node) => typeof node === 'string')) return null;
  if (typeof expiresAt !== 'number' || !Number.isSafeInteger(expiresAt) || typeof label !== 'string')
    return null;
  return { tokenId, operatorId, iss, scopes, allowedNodes, expiresAt, label };
}

/** Undefined if it is not JSON in UTF-8. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
