import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import { FileReply, type HandlersOf } from '../../../shared/routes/handler.ts';
import { type Tiles, tileReply } from '../../../shared/tiles/tiles.ts';
import type { AreaDownload } from './area-download.ts';
import type { Maps } from './maps.ts';

export type MapRows =
  | 'maps.get'
  | 'maps.tiles.get'
  | 'maps.download.post'
  | 'maps.name.get'
  | 'maps.name.put'
  | 'maps.name.delete';

/** For work whose client cannot be seen to leave. */
const NEVER = new AbortController().signal;

export function mapHandlers(
  maps: Maps,
  tiles: Tiles,
  downloads: AreaDownload,
): Pick<HandlersOf<typeof dashboardRows, 'residual'>, MapRows> {
  return {
    'maps.get': async () => ({
      ...(await maps.list()),
      sources: tiles.sources,
      cache: tiles.cache,
      downloads: downloads.running,
    }),
    'maps.tiles.get': async ({ params: { source, z, x, y }, headers, gone = NEVER }) =>
      tileReply(
        await tiles.get(source, { z: Number(z), x: Number(x), y: Number(y) }, gone),
        headers['if-none-match'],
      ),
    'maps.download.post': async ({ body, progress }) => downloads.make(body, progress),
    'maps.name.get': async ({ params }) =>
      new FileReply(await maps.open(params.name), 'application/vnd.pmtiles'),
    'maps.name.put': async ({ params, body, headers }) => {
      const length = headers['content-length'];
      return maps.store(params.name, body, length === undefined ? null : Number(length));
    },
    'maps.name.delete': async ({ params: { name } }) => {
      if (!(await downloads.cancel(name))) await maps.remove(name);
      return { name, deleted: true };
    },
  };
}
