import { expect } from 'chai';
import fc from 'fast-check';
import { zxyToTileId } from 'pmtiles';
import { type Bounds, countTiles, tilesIn } from '../../residual/app/maps/area.ts';

const lon = fc.double({ min: -180, max: 180, noNaN: true });
const lat = fc.double({ min: -90, max: 90, noNaN: true });

/** The middle of a tile, degrees. */
function middle(z: number, x: number, y: number): [lon: number, lat: number] {
  const turn = Math.PI * (1 - (2 * (y + 0.5)) / 2 ** z);
  return [((x + 0.5) / 2 ** z) * 360 - 180, (Math.atan(Math.sinh(turn)) * 180) / Math.PI];
}

describe('the tiles of an area', () => {
  it('are as many as counted, each once, in the order of an archive, and every tile with its middle inside is one', () => {
    fc.assert(
      fc.property(lon, lon, lat, lat, fc.nat(6), fc.nat(2), (west, east, a, b, minZoom, more) => {
        const bounds: Bounds = [west, Math.min(a, b), east, Math.max(a, b)];
        const maxZoom = minZoom + more;
        const count = countTiles(bounds, minZoom, maxZoom);
        const tiles = [...tilesIn(bounds, minZoom, maxZoom)];
        expect(tiles.length).to.equal(count);
        const ids = tiles.map(({ z, x, y }) => zxyToTileId(z, x, y));
        for (const [index, id] of ids.entries()) if (index > 0) expect(id).to.be.above(ids[index - 1] ?? 0);
        const listed = new Set(ids);
        const side = 2 ** minZoom;
        for (let x = 0; x < side; x++)
          for (let y = 0; y < side; y++) {
            const [atLon, atLat] = middle(minZoom, x, y);
            const isInside =
              (west <= east ? atLon >= west && atLon <= east : atLon >= west || atLon <= east) &&
              atLat >= bounds[1] &&
              atLat <= bounds[3];
            if (isInside)
              expect(listed.has(zxyToTileId(minZoom, x, y)), `${minZoom}/${x}/${y}`).to.equal(true);
          }
      }),
      { numRuns: 200 },
    );
  });

  it('a field at zoom 22 is found at once; a whole world is counted without a list', () => {
    expect([...tilesIn([8.5, 47.3, 8.5001, 47.3001], 22, 22)].length).to.be.within(1, 9);
    expect(countTiles([-180, -90, 180, 90], 0, 22)).to.equal((4 ** 23 - 1) / 3);
    expect(countTiles([179.9, 0, -179.9, 1], 5, 5)).to.equal(countTiles([-180, 0, -179.9, 1], 5, 5) * 2);
  });
});
