import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PMTiles } from 'pmtiles';
import { seedDemoMap } from '../../bin/supervisor/demo.ts';
import { Maps } from '../../residual/app/maps/maps.ts';
import { SIM_HOME } from '../../shared/landscape/place.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const FILE = 'demo-landscape.pmtiles';
const LAYERS = ['earth', 'landcover', 'aeroway', 'water', 'waterway', 'roads', 'buildings'] as const;

describe('the map of the demo', () => {
  let dir: string;
  let paths: Paths;
  beforeEach(async () => {
    dir = await tempDir();
    paths = pathsFrom({ SVC_ETC_DIR: join(dir, 'etc'), SVC_RUN_DIR: join(dir, 'run'), SVC_STATE_DIR: dir });
  });
  afterEach(async () => removeDir(dir));

  const reading = async <T>(work: (map: PMTiles) => Promise<T>): Promise<T> => {
    const file = await open(join(paths.maps, FILE));
    const map = new PMTiles({
      getKey: () => FILE,
      getBytes: async (offset, length) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
        return { data: new Uint8Array(buffer.subarray(0, bytesRead)).buffer };
      },
    });
    try {
      return await work(map);
    } finally {
      await file.close();
    }
  };

  it('is one that the node lists, around the place where its vehicle stands', async () => {
    await seedDemoMap(paths);
    expect(await readdir(paths.maps)).to.deep.equal([FILE]);
    const { maps, problem } = await new Maps(paths.maps).list();
    expect(problem).to.equal(null);
    const [map] = maps;
    expect(map).to.include({
      name: FILE,
      tile_type: 'mvt',
      min_zoom: 10,
      max_zoom: 16,
      name_of_map: 'Demo landscape',
    });
    expect(map?.size_bytes).to.be.below(500_000);
    const [west = 0, south = 0, east = 0, north = 0] = map?.bounds ?? [];
    expect(SIM_HOME.lon).to.be.within(west, east);
    expect(SIM_HOME.lat).to.be.within(south, north);
  });

  it('has layers that the page draws, at each of its zooms', async () => {
    await seedDemoMap(paths);
    await reading(async (map) => {
      const tileAt = async (zoom: number): Promise<string> => {
        const sine = Math.sin((SIM_HOME.lat * Math.PI) / 180);
        const x = Math.floor(((SIM_HOME.lon + 180) / 360) * 2 ** zoom);
        const y = Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * 2 ** zoom);
        const tile = await map.getZxy(zoom, x, y);
        return Buffer.from(tile?.data ?? new ArrayBuffer(0)).toString('latin1');
      };
      for (let zoom = 10; zoom <= 16; zoom++) expect(await tileAt(zoom), String(zoom)).to.include('roads');
      const near = await tileAt(14);
      // As residual/web/src/map/map-style.ts tells them by their names.
      expect(await map.getMetadata())
        .to.have.property('vector_layers')
        .with.lengthOf(LAYERS.length);
      for (const name of LAYERS) expect(near).to.include(name);
    });
  });

  it('is made once: not over a file of that name, nor again when somebody has deleted it', async () => {
    await mkdir(paths.maps);
    await writeFile(join(paths.maps, FILE), 'mine');
    await seedDemoMap(paths);
    expect(await readdir(paths.maps)).to.deep.equal([FILE]);
    await rm(join(paths.maps, FILE));
    await seedDemoMap(paths);
    expect(await readdir(paths.maps)).to.deep.equal([]);
  });

  it('is left out where it cannot be written, and the node starts all the same', async () => {
    await writeFile(join(dir, 'file'), '');
    await seedDemoMap(pathsFrom({ SVC_ETC_DIR: dir, SVC_RUN_DIR: dir, SVC_STATE_DIR: join(dir, 'file') }));
  });
});
