import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `svc_op_<id>_<secret>` of an operator, `svc_mc_…` of a machine; only its hash is stored. */
const CREDENTIAL = /^svc_((op|mc)_[0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

export interface NewCredential {
  readonly id: string;
  readonly text: string;
  readonly hash: Buffer;
}

/** @param id of one that it replaces */
export function newCredential(
  kind: 'op' | 'mc',
  id = `${kind}_${randomBytes(8).toString('hex')}`,
): NewCredential {
  const text = `svc_${id}_${randomBytes(32).toString('base64url')}`;
  return { id, text, hash: sha256(text) };
}

/** Whose credential a text claims to be; null for one that is none. */
export function claimedId(text: string): { readonly id: string; readonly kind: 'op' | 'mc' } | null {
  const [, id, kind] = CREDENTIAL.exec(text) ?? [];
  return id === undefined ? null : { id, kind: kind === 'op' ? 'op' : 'mc' };
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In constant time. @param stored undefined where there is none: then false, after as much work */
export function isSecret(text: string, stored: Uint8Array | undefined): boolean {
  const offered = sha256(text);
  const known = stored ?? Buffer.alloc(offered.length);
  return timingSafeEqual(offered, known) && stored !== undefined;
}
