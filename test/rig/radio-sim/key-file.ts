import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { publicKeyOf } from '../../../shared/radio-keys.ts';
import { TAG_BYTES } from './air-frame.ts';

const KEY_BYTES = 32;

/**
 * The mark of a pair of keys, from a key file of wfb-ng: own X25519 secret and the peer's public key, 64 raw bytes. It is made of
 * both public keys, and so is the same at both ends. Null if there is no such file, or it is not one.
 */
export async function keyTag(file: string): Promise<Buffer | null> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (bytes?.length !== 2 * KEY_BYTES) return null;
  const both = [publicKeyOf(bytes.subarray(0, KEY_BYTES)), bytes.subarray(KEY_BYTES)];
  const sorted = Buffer.concat(both.toSorted((a, b) => a.compare(b)));
  return createHash('sha256').update(sorted).digest().subarray(0, TAG_BYTES);
}
