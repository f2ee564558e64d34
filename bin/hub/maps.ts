import { join } from 'node:path';
import type { Logger } from '../../shared/process/logger.ts';
import { TileCache } from '../../shared/tiles/tile-cache.ts';
import { TileSource } from '../../shared/tiles/tile-source.ts';
import { Tiles } from '../../shared/tiles/tiles.ts';
import type { HubConfig } from './config.ts';

const MB = 1e6;
/** Free bytes that are left to the database. */
const RESERVE_BYTES = 1e9;

/** What lies under the maps of the fleet's page: from the tile servers of `hub.yaml`, kept below the hub's folder. */
export function hubTiles({ sources, cache_mb }: HubConfig['maps'], folder: string, log: Logger): Tiles {
  const servers = sources.map((source) => new TileSource(source));
  const cache = new TileCache({
    directory: join(folder, 'tiles'),
    limitBytes: cache_mb * MB,
    folders: servers.map((server) => server.folder),
    reserveBytes: RESERVE_BYTES,
    onProblem: (sentence) => {
      log.warn(sentence);
    },
  });
  return new Tiles(servers, cache, null);
}
