import { tileIdToZxy } from 'pmtiles';
import type { TilePlace } from '../../../shared/tiles/tile-place.ts';

/** Tiles of an area, in Web Mercator as all map tiles of the web. */

/** West, south, east, north, degrees; west greater than east is across the antimeridian. */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

/** A whole square of tiles; the columns run from `left` eastward. */
interface Block {
  readonly z: number;
  readonly left: number;
  readonly columns: number;
  readonly top: number;
  readonly rows: number;
}

/** Beyond, Web Mercator has no tiles. */
const MAX_LAT = 85.051_128_779_806_6;

/** How many tiles an area has; exact, and nothing is listed for it. */
export function countTiles(bounds: Bounds, minZoom: number, maxZoom: number): number {
  return blocks(bounds, minZoom, maxZoom).reduce((sum, { columns, rows }) => sum + columns * rows, 0);
}

/**
 * The tiles of an area in the order of an archive, made one by one: the curve of an archive goes through each quarter of a
 * square before the next, so that squares outside of the area are left out as a whole.
 */
export function* tilesIn(bounds: Bounds, minZoom: number, maxZoom: number): Generator<TilePlace> {
  for (const block of blocks(bounds, minZoom, maxZoom)) {
    const squares = [{ level: 0, index: 0 }];
    for (;;) {
      const square = squares.pop();
      if (square === undefined) break;
      const { level, index } = square;
      const [, x, y] = tileIdToZxy((4 ** level - 1) / 3 + index);
      if (!overlaps(block, x, y, 2 ** (block.z - level))) continue;
      if (level === block.z) yield { z: level, x, y };
      else
        for (let quarter = 3; quarter >= 0; quarter--)
          squares.push({ level: level + 1, index: 4 * index + quarter });
    }
  }
}

/** @param size of the square at x, y, in tiles of the block's zoom */
function overlaps({ z, left, columns, top, rows }: Block, x: number, y: number, size: number): boolean {
  if (y * size > top + rows - 1 || (y + 1) * size - 1 < top) return false;
  const meets = (from: number): boolean => x * size <= from + columns - 1 && (x + 1) * size - 1 >= from;
  return meets(left) || meets(left - 2 ** z);
}

function blocks([west, south, east, north]: Bounds, minZoom: number, maxZoom: number): readonly Block[] {
  return Array.from({ length: Math.max(0, maxZoom - minZoom + 1) }, (_, index) => {
    const z = minZoom + index;
    const side = 2 ** z;
    const left = column(west, side);
    const right = column(east, side);
    const top = row(north, side);
    const bottom = row(south, side);
    const columns = west <= east ? right - left + 1 : Math.min(side, right + side - left + 1);
    return { z, left, columns, top, rows: bottom - top + 1 };
  });
}

function column(lon: number, side: number): number {
  return clamp(Math.floor(((lon + 180) / 360) * side), side);
}

function row(lat: number, side: number): number {
  const radians = (Math.min(MAX_LAT, Math.max(-MAX_LAT, lat)) * Math.PI) / 180;
  const share = (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2;
  return clamp(Math.floor(share * side), side);
}

function clamp(value: number, side: number): number {
  return Math.min(side - 1, Math.max(0, value));
}
