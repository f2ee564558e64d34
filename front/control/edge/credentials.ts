import { hash, timingSafeEqual } from 'node:crypto';

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares over a hash, so that neither content nor length of the stored secret shows in the time it takes. */
export function matchesHash(offered: string, stored: Buffer): boolean {
  return timingSafeEqual(secretHash(offered), stored);
}
