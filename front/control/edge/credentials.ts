import { hash, timingSafeEqual } from 'node:crypto';

export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares hashes, so that the time taken reveals neither content nor length of the stored secret. */
export function matchesHash(offered: string, stored: Buffer): boolean {
  return timingSafeEqual(secretHash(offered), stored);
}
