import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { Compression, PMTiles, type Source, TileType, tileIdToZxy } from 'pmtiles';
import { type ArchiveTile, inTileOrder, writePmtiles } from '../../shared/maps/pmtiles-writer.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ABOUT = {
  tileType: TileType.Png,
  tileCompression: Compression.None,
  bounds: [-12.5, -47.25, 8.75, 47.5],
  metadata: { name: 'Fields', attribution: 'Nobody' },
} as const;

/** What is written is read back by the library that browsers use. */
describe('PMTiles files', () => {
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  async function reading(path: string, work: (map: PMTiles) => Promise<void>): Promise<void> {
    const file = await open(path);
    const source: Source = {
      getKey: () => path,
      getBytes: async (offset, length) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
        return { data: new Uint8Array(buffer.subarray(0, bytesRead)).buffer };
      },
    };
    try {
      await work(new PMTiles(source));
    } finally {
      await file.close();
    }
  }

  const tileAt = (id: number, data: Uint8Array): ArchiveTile => {
    const [z, x, y] = tileIdToZxy(id);
    return { z, x, y, data };
  };
  const failure = async (tiles: readonly ArchiveTile[]): Promise<unknown> =>
    writePmtiles(join(folder, 'bad.pmtiles'), ABOUT, tiles).then(
      () => null,
      (error: unknown) => error,
    );

  it('every tile comes back, whatever tiles there are', async () => {
    const path = join(folder, 'any.pmtiles');
    const id = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 2 ** 45 }));
    const contents = fc.oneof(
      fc.constantFrom(Buffer.from('sea'), Buffer.from('land')),
      fc.uint8Array({ minLength: 1, maxLength: 3000 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(id.map(String), contents, { minKeys: 1, noNullPrototype: true }),
        async (made) => {
          const tiles = Object.entries(made).map(([key, data]) => tileAt(Number(key), data));
          await writePmtiles(path, ABOUT, inTileOrder(tiles));
          await reading(path, async (map) => {
            for (const { z, x, y, data } of tiles) {
              const read = (await map.getZxy(z, x, y))?.data ?? new ArrayBuffer(0);
              expect(Buffer.from(read).equals(data), `${z}/${x}/${y}`).to.equal(true);
            }
            const zooms = tiles.map(({ z }) => z);
            expect(await map.getHeader()).to.include({
              minZoom: Math.min(...zooms),
              maxZoom: Math.max(...zooms),
              minLon: -12.5,
              maxLat: 47.5,
              clustered: true,
              numAddressedTiles: tiles.length,
            });
            expect(await map.getMetadata()).to.deep.equal(ABOUT.metadata);
          });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('a large one has leaf directories; the same content is stored once', async () => {
    const path = join(folder, 'large.pmtiles');
    const count = 60_000;
    const sea = Buffer.from('sea');
    const dataOf = (index: number): Buffer =>
      index % 3 === 0 ? sea : Buffer.alloc(10 + ((index * 7919) % 90), index);
    await writePmtiles(
      path,
      ABOUT,
      (function* () {
        for (let index = 0; index < count; index++) yield tileAt(index * 5, dataOf(index));
      })(),
    );
    await reading(path, async (map) => {
      const header = await map.getHeader();
      expect(header.leafDirectoryLength).to.be.above(0);
      expect(header.rootDirectoryOffset + header.rootDirectoryLength).to.be.at.most(16_384);
      expect(header.numTileContents).to.be.below((count * 2) / 3 + 2);
      for (const index of [0, 1, 4095, 4096, 30_000, count - 1]) {
        const { z, x, y } = tileAt(index * 5, sea);
        const read = (await map.getZxy(z, x, y))?.data ?? new ArrayBuffer(0);
        expect(Buffer.from(read).equals(dataOf(index)), String(index)).to.equal(true);
      }
      expect(await map.getZxy(20, 1, 1)).to.equal(undefined);
    });
  });

  const one = tileAt(7, Buffer.from('x'));
  const refused: readonly [string, readonly ArchiveTile[], RegExp][] = [
    ['none at all', [], /at least one tile/],
    ['one twice', [one, one], /not in the order/],
    ['an earlier one later', [one, tileAt(6, one.data)], /not in the order/],
    ['one outside of the world', [{ ...one, x: 2 ** one.z }], /no tile/],
    ['one at no place', [{ ...one, x: Number.NaN }], /no tile/],
    ['one too deep', [{ z: 27, x: 0, y: 0, data: one.data }], /no tile/],
    ['an empty one', [{ ...one, data: Buffer.alloc(0) }], /empty/],
  ];
  for (const [name, tiles, why] of refused) {
    it(`${name}: no file is left`, async () => {
      expect(String(await failure(tiles))).to.match(why);
      expect((await readdir(folder)).filter((entry) => entry.includes('bad'))).to.deep.equal([]);
    });
  }
});
