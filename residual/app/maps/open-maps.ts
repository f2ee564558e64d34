import { join } from 'node:path';
import type { Part } from '../../../shared/process/services.ts';
import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { TileCache } from '../../../shared/tiles/tile-cache.ts';
import { TileSource } from '../../../shared/tiles/tile-source.ts';
import { Tiles } from '../../../shared/tiles/tiles.ts';
import type { Base } from '../base.ts';
import { AreaDownload } from './area-download.ts';
import { type MapRows, mapHandlers } from './map-handlers.ts';
import { Maps, RESERVE_BYTES } from './maps.ts';
import { OfflineTiles } from './offline-tiles.ts';

const MB = 1e6;

interface OpenMaps extends Part {
  readonly handlers: Pick<HandlersOf<typeof dashboardRows, 'residual'>, MapRows>;
}

/** Map files, tiles of the sources, offline areas. */
export function openMaps({ config, paths, log }: Base): OpenMaps {
  const warn = (sentence: string): void => {
    log.warn(sentence);
  };
  const sources = config.maps.sources.map((source) => new TileSource(source));
  const maps = new Maps(paths.maps);
  const cache = new TileCache({
    directory: join(paths.maps, 'tiles'),
    limitBytes: config.maps.cache_mb * MB,
    folders: sources.map(({ folder }) => folder),
    reserveBytes: RESERVE_BYTES,
    onProblem: warn,
  });
  const tiles = new Tiles(sources, cache, new OfflineTiles(maps.files, warn));
  const downloads = new AreaDownload(tiles, maps);
  return {
    handlers: mapHandlers(maps, tiles, downloads),
    start: () => tiles.start(),
    async stop() {
      await downloads.stop();
      await tiles.stop();
    },
  };
}
