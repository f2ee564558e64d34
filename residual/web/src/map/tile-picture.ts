import { MAX_TILE_PX, pictureHead } from '../../../../shared/maps/picture-head.ts';

/** Tiles are other people's, and the browser is given only pictures of a bounded size. */

const MOST_BYTES = 4 * 1024 * 1024;

/** @throws Error naming what is wrong with it */
export function checkPicture(bytes: Uint8Array): void {
  if (bytes.length > MOST_BYTES) throw new Error('a tile that is too large');
  const size = pictureHead(bytes)?.size ?? null;
  if (size === null) throw new Error('a tile that is no picture');
  const [width, height] = size;
  if (width < 1 || height < 1 || width > MAX_TILE_PX || height > MAX_TILE_PX)
    throw new Error(`a tile of ${width}×${height} pixels`);
}
