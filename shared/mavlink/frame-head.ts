import { byteAt } from './byte-at.ts';

/** How a frame begins, for whoever has no Buffer of Node. */

export const STX_V1 = 0xfe;
export const STX_V2 = 0xfd;

/** The 24-bit message id of the v2 frame at `start`, of which at least ten bytes are there. */
export function messageIdV2(buffer: Uint8Array, start: number): number {
  return byteAt(buffer, start + 7) | (byteAt(buffer, start + 8) << 8) | (byteAt(buffer, start + 9) << 16);
}
